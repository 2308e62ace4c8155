#!/usr/bin/env python3
"""What check_unity reports, and the neighbours that it lets pass."""
import unittest

from check_unity import declarations, doubled_types, faults_of


def nameless(*lines):
    return "\n".join(["namespace tbd {", "namespace {", "", *lines, "", "}  // namespace", "}  // namespace tbd", ""])


def faults(**files):
    """Files by name, `a` of graph/a.cc; `h` is graph/h.h."""
    paths = {"h": "graph/h.h"}
    return [f"{path}:{line}: {fault}" for path, line, fault in faults_of({paths.get(name, f"graph/{name}.cc"): text for name, text in files.items()})]


def names(*lines):
    return [name for _, name, private in declarations(nameless(*lines)) if private]


class CheckUnity(unittest.TestCase):
    def test_a_name_of_two_files_is_reported_in_both(self):
        found = faults(a=nameless("int at(int i) { return i; }"), b=nameless("double at(double x) { return x; }"))
        self.assertEqual(
            found,
            [
                "graph/a.cc:4: 'at' is also in src/graph/b.cc: unity builds join the files of a module",
                "graph/b.cc:4: 'at' is also in src/graph/a.cc: unity builds join the files of a module",
            ],
        )

    def test_overloads_of_one_file_are_one_name(self):
        self.assertEqual(faults(a=nameless("int at(int i) { return i; }", "int at(char i) { return i; }")), [])

    def test_two_types_of_one_name_are_a_fault_wherever_they_are(self):
        def header(*lines, space="tbd"):
            return "\n".join([f"namespace {space} {{", *lines, f"}}  // namespace {space}", ""])

        bench = header("class Bench final : public Base {", "};")
        found = list(doubled_types({"analysis/a.h": bench, "runner/b.h": header("", "struct Bench {", "};")}))
        self.assertEqual(found, [("runner/b.h", 3, "'tbd::Bench' is another type in src/analysis/a.h")])
        for other in (header("class Bench;"), header("class Bench::Walk {", "};"), header("class Bench {", "};", space="tbd::cli")):
            self.assertEqual(list(doubled_types({"analysis/a.h": bench, "runner/b.h": other})), [])

    def test_modules_are_strangers(self):
        text = nameless("constexpr int kMost = 3;")
        self.assertEqual(list(faults_of({"graph/a.cc": text, "record/a.cc": text})), [])
        self.assertEqual(list(faults_of({"backends/mxnet/a.cc": text, "backends/pytorch/a.cc": text})), [])
        self.assertEqual(len(list(faults_of({"backends/mxnet/a.cc": text, "backends/mxnet/b.cc": text}))), 2)

    def test_models_are_compiled_alone(self):
        text = nameless("constexpr int kMost = 3;")
        self.assertEqual(list(faults_of({"models/a.cc": text, "models/b.cc": text})), [])

    def test_tests_of_a_module_are_joined_apart_from_its_sources(self):
        text = nameless("int at(int i) { return i; }")
        self.assertEqual(
            faults(a_test=text, b_test=text),
            [
                "graph/a_test.cc:4: 'at' is also in src/graph/b_test.cc: unity builds join the tests of a module",
                "graph/b_test.cc:4: 'at' is also in src/graph/a_test.cc: unity builds join the tests of a module",
            ],
        )
        self.assertEqual(faults(a=text, a_test=text), [])
        self.assertEqual(len(list(faults_of({"models/a_test.cc": text, "models/b_test.cc": text}))), 2, "models' too")

    def test_what_only_tests_include_hides_nothing_from_sources(self):
        header = "namespace tbd {\nint at(int);\n}\n"
        body, include = nameless("int at(int i, int j) { return i + j; }"), '#include "graph/h.h"\n'
        self.assertEqual(faults(h=header, a=body, a_test=include), [])
        self.assertEqual(len(faults(h=header, a_test=include, b_test=body)), 1)

    def test_aliases_and_names_of_other_namespaces_may_be_repeated(self):
        text = nameless("namespace fs = std::filesystem;", "using testing::HasSubstr;")
        self.assertEqual(faults(a_test=text, b_test=text), [])

    def test_what_a_header_declares_is_not_declared_again(self):
        header = "namespace tbd {\nint grouped(int);\n}\n"
        body = nameless("int grouped(int a, int b) { return a + b; }")
        self.assertEqual(len(faults(h=header, a='#include "graph/h.h"\n' + body)), 1)
        self.assertEqual(len(faults(h=header, a='#include "graph/h.h"\n', b=body)), 1, "another file's header hides as well")
        self.assertEqual(faults(h=header, a=body), [], "a header that the module does not read")

    def test_headers_of_headers_count(self):
        files = {
            "base/text.h": "namespace tbd {\nint grouped(int);\n}\n",
            "graph/h.h": '#include "base/text.h"\n',
            "graph/a.cc": '#include "graph/h.h"\n' + nameless("int grouped(int a, int b);"),
        }
        self.assertEqual(len(list(faults_of(files))), 1)

    def test_overloads_that_templates_find_by_type_pass(self):
        text = nameless("void fields(int& visit, int& x) { visit = x; }")
        self.assertEqual(faults(a=text, b=text), [])

    def test_what_others_see_is_no_fault(self):
        outside = "namespace tbd {\n\nint at(int i) { return i; }\n\n}  // namespace tbd\n"
        self.assertEqual(faults(a=outside, b=nameless("int at(char i) { return i; }")), [])

    def test_constants_outside_of_nameless_namespaces_count(self):
        text = "namespace tbd {\nconstexpr Form kForm = Form::message;\n}\n"
        self.assertEqual(len(faults(a=text, b=text)), 2)
        function = "namespace tbd {\nconstexpr int twice(int x) {\n  return 2 * x;\n}\n}\n"
        self.assertEqual(faults(a=function, b=function), [])

    def test_static_functions_count(self):
        text = "namespace tbd {\nstatic int at(int i) { return i; }\n}  // namespace tbd\n"
        self.assertEqual(len(faults(a=text, b=text)), 2)

    def test_every_kind_of_declaration_has_a_name(self):
        for line, name in [
            ("constexpr size_t kMost = 1 << 20;", "kMost"),
            ('constexpr std::string_view kNames[] = {"a; b", "c"};', "kNames"),
            ("struct Stage {", "Stage"),
            ("class Writer final : public Base {", "Writer"),
            ("enum class Form { exact, kept };", "Form"),
            ("using Pair = std::pair<int, int>;", "Pair"),
            ("std::map<std::string, int>& calls() {", "calls"),
            ("const Node* find(std::span<const Node> all, const std::string& name = \"\") {", "find"),
            ("template <class T> T twice(T x) {", "twice"),
            ("auto order(const Workload& w) -> std::tuple<int, int> {", "order"),
            ("[[noreturn]] void system_error(int code) {", "system_error"),
            ('__attribute__((target("avx2"))) void loop(double* a) {', "loop"),
            ("std::function<double(int)> law;", "law"),
        ]:
            self.assertEqual(names(line, *(["  int x;", "};"] if line.endswith("{") else [])), [name], line)

    def test_one_declaration_may_have_several_names(self):
        self.assertEqual(names("constexpr size_t kWindow = 320, kHop = f(1, 2),", "                 kPad{3};"), ["kWindow", "kHop", "kPad"])

    def test_arguments_of_a_template_are_no_names(self):
        self.assertEqual(names("constexpr Pair<char*, int, long> kPair{1};"), ["kPair"])

    def test_a_template_head_on_a_line_of_its_own(self):
        self.assertEqual(names("template <class T>", "T twice(T x) {", "  return 2 * x;", "}"), ["twice"])

    def test_what_declares_nothing_new_passes(self):
        for line in [
            "using namespace std;",
            "using codec::Names;",
            "static_assert(kMost > 2);",
            "class Samples::Maker final : public SampleMaker {",
            "bool operator==(const A& a, const A& b) {",
            "int Writer::next() {",
            "// int at(int i);",
            "#define AT(i) i",
        ]:
            self.assertEqual(names(line), [], line)

    def test_bodies_and_raw_strings_declare_nothing(self):
        self.assertEqual(names("int f() {", "  int at = 3;", "  return at;", "}", 'constexpr const char* kText = R"(', "int at(int i);", ')";'), ["f", "kText"])


if __name__ == "__main__":
    unittest.main()
