#include "report/assets.h"

namespace tbd {

std::string_view report_style() {
  return R"css(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --raised: #f7f8fa; --ink: #1b2330; --soft: #5b6676; --line: #dfe3e9; --accent: #2b5fb3;
  --good: #1f7a4d; --good-paper: #e5f4ec; --bad: #a83232; --bad-paper: #fbe9e9;
  --c0: #2b5fb3; --c1: #c8702a; --c2: #2f8f6b; --c3: #8a5bb0; --c4: #b0456b; --c5: #6d7a2c; --c6: #3f8fa6; --c7: #a0522d; --c8: #8f8f8f; --c9: #3d3d6b; --band: rgba(43, 95, 179, .09);
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #12161c; --raised: #1a2029; --ink: #e6eaf0; --soft: #98a4b5; --line: #2c3542; --accent: #7fb0ff;
    --good: #6fd3a0; --good-paper: #173327; --bad: #ff9c9c; --bad-paper: #3a1f22;
    --c0: #7fb0ff; --c1: #f0a868; --c2: #6fd3a0; --c3: #c4a0e8; --c4: #f08fb0; --c5: #c0cc70; --c6: #7fd0e0; --c7: #d89878; --c8: #a8a8a8; --c9: #9c9ce0; --band: rgba(127, 176, 255, .12);
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main, body > header, body > footer { max-width: 1120px; margin: 0 auto; padding: 0 20px; }
body > header { padding-top: 36px; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 4px; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; margin: 0 0 12px; padding-top: 28px; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 20px 0 8px; overflow-wrap: anywhere; }
p { margin: 0 0 12px; max-width: 75ch; }
.sub, figcaption, .note, footer { color: var(--soft); font-size: .875rem; }
.note { overflow-wrap: anywhere; }
nav { position: sticky; top: 0; z-index: 2; background: var(--paper); border-bottom: 1px solid var(--line);
  margin: 16px 0 0; }
nav ul { max-width: 1120px; margin: 0 auto; padding: 8px 20px; list-style: none; display: flex; gap: 4px 18px;
  overflow-x: auto; white-space: nowrap; flex-wrap: wrap; }
@media (max-width: 700px) { nav ul { flex-wrap: nowrap; } }
nav ul.scroll { margin: 0 auto; }
nav a { color: var(--soft); text-decoration: none; font-size: .9rem; }
nav a:hover, nav a:focus-visible { color: var(--accent); text-decoration: underline; }
section { margin: 28px 0; scroll-margin-top: 48px; }
section:first-child h2 { border-top: 0; padding-top: 0; }
.cards { display: grid; gap: 16px; grid-template-columns: repeat(auto-fill, minmax(min(250px, 100%), 1fr)); }
.card { background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding: 14px 16px; min-width: 0; }
.card header { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 2px 8px; align-items: baseline; }
.card h3 { margin: 0; font-weight: 600; }
.big { font-size: 1.9rem; font-weight: 650; margin: 8px 0 0; line-height: 1.15; font-variant-numeric: tabular-nums; }
.big span { font-size: 1rem; font-weight: 400; color: var(--soft); }
.big.none { color: var(--soft); font-weight: 400; font-size: 1.4rem; }
.card dl { display: grid; grid-template-columns: 1fr 1fr; gap: 8px 12px; margin: 12px 0 0; }
.card dt { color: var(--soft); font-size: .78rem; }
.card dd { margin: 0; font-variant-numeric: tabular-nums; }
.card .note { margin: 10px 0 0; }
.badge { font-size: .75rem; padding: 1px 8px; border-radius: 999px; white-space: nowrap; }
.badge.good { color: var(--good); background: var(--good-paper); }
.badge.bad { color: var(--bad); background: var(--bad-paper); }
.verdicts { padding-left: 20px; margin: 0 0 12px; }
.verdicts li { margin-bottom: 6px; max-width: 90ch; }
.lead { font-size: 1.1rem; max-width: 80ch; margin: 12px 0 0; }
.scroll { overflow-x: auto; margin: 8px 0 12px; }
table { border-collapse: collapse; font-size: .875rem; min-width: 50%; }
caption { text-align: left; font-weight: 600; padding: 10px 0 6px; font-size: 1rem; }
th, td { text-align: left; padding: 5px 16px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 500; white-space: nowrap; }
td { white-space: nowrap; }
.t { white-space: normal; min-width: 28ch; max-width: 60ch; overflow-wrap: anywhere; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.figures { display: grid; gap: 24px; grid-template-columns: repeat(auto-fit, minmax(min(480px, 100%), 1fr)); }
figure { margin: 0; min-width: 0; }
figure h3 { margin-top: 4px; }
.plot { width: 100%; height: 320px; }
details { margin: 6px 0; }
summary { cursor: pointer; color: var(--accent); font-size: .9rem; }
button.csv { font: inherit; font-size: .85rem; color: var(--accent); background: none; border: 1px solid var(--line);
  border-radius: 6px; padding: 2px 10px; cursor: pointer; }
button.csv:hover { border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
footer { padding-top: 16px; padding-bottom: 40px; }
.closure { background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; margin: 0 0 20px; }
.closure h3 { margin: 0 0 8px; }
.closure dl { display: grid; gap: 10px 20px; grid-template-columns: repeat(auto-fill, minmax(min(160px, 100%), 1fr)); margin: 0; }
.closure dl div { border-left: 3px solid var(--line); padding-left: 10px; min-width: 0; }
.closure dl .closed { border-color: var(--good); }
.closure dl .open { border-color: var(--bad); }
.closure dt { color: var(--soft); font-size: .78rem; }
.closure dd { margin: 0; font-variant-numeric: tabular-nums; font-weight: 600; overflow-wrap: anywhere; }
.closure dd.sub { font-weight: 400; font-size: .78rem; }
.closure .unknown dd { font-weight: 400; color: var(--soft); }
table.matrix { min-width: 0; }
table.matrix th, table.matrix td { padding-right: 28px; line-height: 1.35; }
table.matrix th[scope=row] { font-size: .95rem; }
table.matrix td div + div { margin-top: 6px; }
.matrix .sub { font-size: .78rem; }
th[title], dt[title] { text-decoration: underline dotted; text-underline-offset: 3px; cursor: help; }
abbr[title] { cursor: help; }
a { color: var(--accent); }
figcaption a { white-space: nowrap; }
.observations { padding-left: 28px; }
.observations li { margin-bottom: 14px; }
.observations p { margin: 2px 0 4px; }
.observations .badge { margin-left: 6px; border: 1px solid var(--line); }
code { font-size: .85em; overflow-wrap: anywhere; }
@media print {
  :root { color-scheme: light; }
  nav, button.csv, .modebar-container { display: none !important; }
  body { font-size: 11pt; }
  main, body > header, body > footer { max-width: none; padding: 0; }
  .card, figure, .closure, tr { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; }
  .figures { display: block; }
  figure { margin-bottom: 18px; }
  .scroll { overflow: visible; }
  td { white-space: normal; }
}
)css";
}

}  // namespace tbd
