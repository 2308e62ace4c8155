// The report in a real browser: no console error, every chart has marks, nothing wider than the window.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "analysis/sample_profile.h"
#include "analysis/sample_record.h"
#include "base/files.h"
#include "base/json.h"
#include "data/png_encoder.h"
#include "record/pictures.h"
#include "report/plotly.h"
#include "report/report.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;

fs::path browser() {
  for (const char* path :
       {TBD_TOOLS "/chromium", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"})
    if (fs::exists(path)) return path;
  return {};
}

struct Output {
  int status = 0;
  std::string text;
};

Output shell(const std::string& command) {
  Output output;
  FILE* pipe = ::popen(command.c_str(), "r");
  char buffer[1 << 16];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) output.text.append(buffer, count);
  const int status = ::pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

// Tells its frame, after the page has drawn itself, what it measured.
constexpr const char* kProbe = R"js(
const undrawn = () => [...document.querySelectorAll('.plot')].some(plot => !plot.querySelector('.main-svg'));
addEventListener('load', () => setTimeout(function probe(tries = 0) {
  if (undrawn() && tries < 100) return setTimeout(probe, 50, tries + 1);
  const root = document.documentElement;
  const plots = [...document.querySelectorAll('.plot')].map(plot => ({
    id: plot.id, marks: plot.querySelectorAll('.point, .scatterlayer .js-line').length, width: plot.clientWidth }));
  const text = getComputedStyle(document.body).color, paper = getComputedStyle(document.body).backgroundColor;
  const point = document.querySelector('.plot .point path');
  const ink = point ? getComputedStyle(point).fill : 'none';
  const fetched = performance.getEntriesByType('resource').filter(e => !/^(data|blob):/.test(e.name)).map(e => e.name);
  const captions = [...document.querySelectorAll('.figures figure')].map(f => !!f.querySelector('details table') && !!f.querySelector('button.csv'));
  const wide = [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll') && !e.closest('svg') &&
    e.getBoundingClientRect().right > root.clientWidth + 1).map(e => e.tagName + '.' + e.className);
  const pictures = [...document.querySelectorAll('.pictures img')].map(i => [i.naturalWidth, i.clientWidth]);
  let saved = '';  // what a click would save: a real download now and then keeps the browser from ending
  HTMLAnchorElement.prototype.click = function () { saved = this.download; };
  document.querySelector('.csv').click();
  parent.postMessage(JSON.stringify({ scroll: root.scrollWidth, client: root.clientWidth, plots, wide: wide.slice(0, 5), pictures,
    text, paper, ink, fetched, saved, tables: captions.every(Boolean), figures: captions.length }), '*');
}, 300));
)js";

// A frame as wide as asked for: a browser's own window has a least width. What the probe tells becomes the title.
std::string framed(const std::string& page, int width, int height) {
  return cat("<!DOCTYPE html><title>nothing</title><style>body{margin:0}iframe{border:0}</style>",
             "<script>addEventListener('message', e => { document.title = e.data; });</script><iframe src=\"", page,
             "\" width=\"", width, "\" height=\"", height, "\"></iframe>");
}

std::string console_messages(const std::string& log) {
  std::string out;
  for (const std::string& line : split(log, '\n'))
    if (line.find("CONSOLE") != std::string::npos) out += line + "\n";
  return out;
}

Json title_of(const std::string& dom) {
  const size_t begin = dom.find("<title>") + 7;
  std::string title = dom.substr(begin, dom.find("</title>") - begin);
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"&quot;", "\""}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}})
    for (size_t at = 0; (at = title.find(from, at)) != std::string::npos; at += to.size())
      title.replace(at, from.size(), to);
  return parse_json(title, "title");
}

class InBrowser : public testing::Test {
 protected:
  void SetUp() override {
    if (browser().empty()) GTEST_SKIP() << "NO BROWSER: chromium is not installed, the report was not looked at";
    if (plotly_js().empty()) GTEST_SKIP() << "NO PLOTLY: TBD_PLOTLY_JS was not set, the report was not looked at";
  }

  // The page with the probe as one more script; the policy is loosened for it in this copy alone.
  fs::path probed(std::string html) const {
    const auto replace = [&](std::string_view from, const std::string& to) {
      const size_t at = html.rfind(from);
      ASSERT_NE(at, std::string::npos);
      html.replace(at, from.size(), to);
    };
    const size_t policy = html.find("script-src ");
    html.replace(policy, html.find(';', policy) - policy, "script-src 'unsafe-inline'");
    replace("</body>", cat("<script>", kProbe, "</script></body>"));
    write_file(folder_.path() / "probed.html", html);
    return folder_.path() / "probed.html";
  }

  fs::path in_frame(const std::string& page, int width, int height = 3'000) const {
    const fs::path frame = folder_.path() / cat("frame-", width, ".html");
    write_file(frame, framed(page, width, height));
    return frame;
  }

  Output open(const fs::path& page, const std::string& more, int width = 1280, int height = 3000) const {
    const std::string folder = folder_.path().string();
    return shell(
        cat("HOME=", folder, " timeout 120 ", browser().string(),
            " --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run",
            " --disable-background-networking --user-data-dir=", folder, "/profile --window-size=", width, ",", height,
            " --enable-logging=stderr --v=0 --virtual-time-budget=8000 ", more, " file://", page.string(), " 2>",
            folder, "/log"));
  }
  std::string log() const { return read_file(folder_.path() / "log"); }
  // What the probe saw in a frame of that width, in which nothing may overflow, be fetched or be complained of.
  Json laid_out(int width) const {
    const Output dom = open(in_frame("probed.html", width), "--dump-dom");
    EXPECT_EQ(dom.status, 0) << log();
    EXPECT_EQ(console_messages(log()), "");
    const Json seen = title_of(dom.text);
    EXPECT_LE(seen["scroll"].get<int>(), width) << seen.dump();
    EXPECT_EQ(seen["wide"], Json::array());
    EXPECT_EQ(seen["fetched"], Json::array());
    return seen;
  }

  TemporaryFolder folder_;
};

std::vector<Record> quickstart_cells() {
  std::vector<Record> records;
  for (const Precision& precision : {Precision::kFp32, Precision::kBf16})
    for (const InputMode& input : InputMode::kKnown)
      records.push_back(
          sample_record({.noise = 0.01, .input_wait = 0.005, .input_mode = input, .precision = precision}));
  records[3].run.workload.framework = "a framework <b>with</b> a rather long name that never seems to end";
  return records;
}

TEST_F(InBrowser, EveryChartHasMarksAndNothingOverflows) {
  probed(report_html({quickstart_cells()}, plotly_js()));
  for (const int width : {400, 1280}) {
    const Json seen = laid_out(width);
    EXPECT_EQ(seen["client"].get<int>(), width);
    EXPECT_THAT(seen["saved"].get<std::string>(), testing::EndsWith(".csv"));
    EXPECT_TRUE(seen["tables"].get<bool>()) << "a chart without its table or CSV";
    EXPECT_EQ(seen["figures"], seen["plots"].size());
    ASSERT_EQ(seen["plots"].size(), 9u);
    for (const Json& plot : seen["plots"]) EXPECT_GT(plot["marks"].get<int>(), 0) << plot.dump();
  }
}

TEST_F(InBrowser, PicturesFitTheWindow) {
  const RgbImage large{{1600, 400}, std::vector<uint8_t>(3 * 1600 * 400, 90)},
      small{{64, 64}, std::vector<uint8_t>(3 * 64 * 64, 200)};
  std::vector<Record> records = quickstart_cells();
  records[0].folder = folder_.path() / "record";
  const std::vector<Picture> pictures = {{"large.png", "Large", "four objects", encode_png(large)},
                                         {"small.png", "Small", std::string(200, 'w'), encode_png(small)}};
  write_pictures(records[0].folder, pictures);
  probed(report_html({records}, plotly_js()));
  for (const int width : {400, 1280}) {
    const Json seen = laid_out(width);
    ASSERT_EQ(seen["pictures"].size(), 2u);
    EXPECT_EQ(seen["pictures"][0][0], 1600) << "the browser has read it";
    EXPECT_LT(seen["pictures"][0][1].get<int>(), width);
    EXPECT_EQ(seen["pictures"][1], Json({64, 64})) << "no larger than it is";
  }
}

// Models at several batches, with traces, memory and a batch that did not fit.
struct MadeRecords {
  std::vector<std::unique_ptr<sample::Made>> made;
  std::vector<Record> records;
};

MadeRecords made_records() {
  MadeRecords matrix;
  for (const char* model : {"resnet50", "inception_v3", "seq2seq", "wgan", "deep_speech_2"})
    for (const char* framework : {"pytorch", "tensorflow", "mxnet"})
      for (const int64_t batch : {1, 2, 4, 8}) {
        matrix.made.push_back(sample::made());
        Record& evidence = matrix.made.back()->record;
        sample::add_memory(evidence);
        Record record = sample_record({.step_seconds = 0.02 * static_cast<double>(batch + 2), .noise = 0.01});
        record.launches.insert(record.launches.end(), evidence.launches.begin(), evidence.launches.end());
        record.folder = evidence.folder;
        record.hash = cat(model, framework, batch);
        record.run.ops = evidence.run.ops;
        record.run.peaks = evidence.run.peaks;
        Workload& w = record.run.workload;
        record.launches[0].info.batch_seen = batch;
        w.model = model;
        w.framework = framework;
        w.batch = batch;
        for (StepRow& row : record.launches[0].steps) row.units = static_cast<double>(batch);
        if (batch == 8 && w.framework == "mxnet") {
          record.launches.clear();
          record.run.outcome = {.kind = OutcomeKind::oom, .reason = "the worker ran out of memory", .repro = ""};
        }
        matrix.records.push_back(std::move(record));
      }
  return matrix;
}

TEST_F(InBrowser, EveryFigureAgainstBatchSizeIsDrawn) {
  const MadeRecords all = made_records();
  probed(report_html({all.records}, plotly_js()));
  for (const int width : {400, 1280}) {
    const Json seen = laid_out(width);
    EXPECT_GT(seen["plots"].size(), 30u);
    for (const Json& plot : seen["plots"]) EXPECT_GT(plot["marks"].get<int>(), 0) << plot.dump();
  }
}

TEST_F(InBrowser, DarkModeChangesPaperTextAndCharts) {
  probed(report_html({quickstart_cells()}, plotly_js()));
  Json seen[2];
  for (const bool dark : {false, true}) {
    const Output dom =
        open(in_frame("probed.html", 1280), cat("--dump-dom", dark ? " --blink-settings=preferredColorScheme=0" : ""));
    ASSERT_EQ(dom.status, 0) << log();
    seen[dark] = title_of(dom.text);
  }
  for (const char* color : {"text", "paper", "ink"}) EXPECT_NE(seen[0][color], seen[1][color]) << color;
  EXPECT_EQ(seen[0]["paper"], "rgb(255, 255, 255)");
}

// Printed: the links, buttons and folds of the screen are gone, and what was not drawn yet is there.
TEST_F(InBrowser, PrintsWhatTheScreenShows) {
  write_report({quickstart_cells()}, folder_.path() / "report.html");
  const fs::path paper = folder_.path() / "report.pdf";
  const Output printed =
      open(folder_.path() / "report.html", cat("--no-pdf-header-footer --print-to-pdf=", paper.string()));
  ASSERT_EQ(printed.status, 0) << log();
  EXPECT_EQ(console_messages(log()), "");
  ASSERT_TRUE(fs::exists(paper));
  const std::string pdf = read_file(paper);
  EXPECT_TRUE(pdf.starts_with("%PDF"));
  size_t pages = 0;
  for (size_t at = pdf.find("/Type /Page\n"); at != std::string::npos; at = pdf.find("/Type /Page\n", at + 1)) ++pages;
  EXPECT_GT(pages, 3u);
  EXPECT_LT(pages, 60u);
}

TEST_F(InBrowser, RunsUnderItsOwnContentSecurityPolicy) {
  write_report({quickstart_cells()}, folder_.path() / "report.html");
  const Output dom = open(folder_.path() / "report.html", "--dump-dom");
  ASSERT_EQ(dom.status, 0) << log();
  EXPECT_EQ(console_messages(log()), "");
  EXPECT_THAT(dom.text, testing::HasSubstr("class=\"points\""));
}

TEST_F(InBrowser, BlocksAndReportsInjectedScripts) {
  std::string html = report_html({quickstart_cells()}, plotly_js());
  html.insert(html.find("<main>"), "<script>document.title = 'broken in'</script>");
  write_file(folder_.path() / "attacked.html", html);
  const Output dom = open(folder_.path() / "attacked.html", "--dump-dom");
  EXPECT_THAT(dom.text, testing::Not(testing::HasSubstr("<title>broken in")));
  EXPECT_NE(console_messages(log()), "") << "the console is not read: the other tests prove nothing";
}

// TBD_SCREENSHOTS names a folder: pictures to look at, no test.
TEST_F(InBrowser, Screenshots) {
  const char* keep = std::getenv("TBD_SCREENSHOTS");
  if (!keep) GTEST_SKIP() << "TBD_SCREENSHOTS is not set";
  write_report({quickstart_cells()}, folder_.path() / "report.html");
  const MadeRecords all = made_records();
  write_report({all.records}, folder_.path() / "matrix.html");
  for (const int width : {400, 1280})
    open(in_frame("matrix.html", width, 12'000), cat("--screenshot=", keep, "/matrix-", width, ".png"),
         std::max(width, 500), 12'000);
  for (const int width : {400, 1280})
    for (const bool dark : {false, true})
      open(in_frame("report.html", width),
           cat("--screenshot=", keep, "/", width, dark ? "-dark" : "", ".png",
               dark ? " --blink-settings=preferredColorScheme=0" : ""),
           std::max(width, 500));
}

}  // namespace
}  // namespace tbd
