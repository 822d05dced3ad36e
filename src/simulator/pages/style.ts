import { raw } from "hono/html";

/** One sheet for all the simulator's pages; colours have enough contrast in both themes. */
export const STYLE = raw(`<style>
:root {
  color-scheme: light dark;
  --page: light-dark(#f6f7f9, #101216); --card: light-dark(#fff, #181b21); --line: light-dark(#d9dde3, #2e333c);
  --text: light-dark(#16191f, #eceef2); --soft: light-dark(#586070, #a2abb9); --accent: light-dark(#2f5bea, #86a4ff);
  --on-accent: light-dark(#fff, #0c1020); --bad: light-dark(#b42318, #ff9a90); --good: light-dark(#177245, #5fd09a);
  --warn: light-dark(#8a5300, #f0bd6a); --banner: light-dark(#fff3d1, #3a2f10); --on-banner: light-dark(#5a4300, #ffe2a3);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
.banner { padding: 8px 16px; background: var(--banner); color: var(--on-banner); text-align: center; font-size: 14px; }
main { max-width: 960px; margin: 0 auto; padding: 32px 16px 64px; }
main.wide { max-width: 1200px; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 8px; text-wrap: balance; }
h2 { font-size: 17px; margin: 0; } h2 + p, h2 + dl, .row + dl, .row + p { margin-top: 12px; }
h3 { font-size: 14px; margin: 24px 0 8px; }
p { margin: 0 0 12px; }
.soft { color: var(--soft); } .small { font-size: 13px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 24px; }
.stack > * + * { margin-top: 24px; }
.two { display: grid; gap: 24px; grid-template-columns: 1fr; }
.two:has([name=trial]:checked) .paid, .two:not(:has([name=trial]:checked)) .in-trial { display: none; }
@media (min-width: 760px) { .two { grid-template-columns: 5fr 6fr; gap: 48px; } }
.row { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
.row.apart { justify-content: space-between; }
.row.end { align-items: end; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 4px 24px; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; text-align: right; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
dl.start dd { text-align: left; }
dl.sum { border-top: 1px solid var(--line); padding-top: 12px; margin-top: 12px; font-weight: 600; }
.price { font-size: 32px; font-weight: 600; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; }
label, legend { display: block; font-weight: 600; font-size: 14px; margin-bottom: 4px; }
label.check { display: flex; gap: 8px; align-items: center; font-weight: 400; margin: 0; }
fieldset { border: 0; padding: 0; margin: 0; min-width: 0; }
.field { margin-bottom: 16px; }
.help { color: var(--soft); font-size: 13px; margin: 4px 0 0; }
input:not([type=checkbox]), select { width: 100%; min-height: 40px; padding: 8px 12px; font: inherit; color: inherit;
  background: var(--page); border: 1px solid var(--line); border-radius: 8px; }
input.narrow, select.narrow { width: auto; max-width: 100%; } input[type=number].narrow { width: 96px; }
input[type=checkbox] { flex: none; width: 18px; height: 18px; margin: 0; accent-color: var(--accent); }
button, .button { min-height: 40px; padding: 8px 16px; font: inherit; font-weight: 600; color: inherit; background: transparent;
  border: 1px solid var(--line); border-radius: 8px; cursor: pointer; text-decoration: none; display: inline-block; }
button:hover, .button:hover { border-color: var(--soft); }
button.main { width: 100%; color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
button.bad { color: var(--bad); }
button.full { width: 100%; }
button.small { min-height: 32px; padding: 4px 10px; font-size: 13px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
.problem, .done { border: 1px solid currentColor; border-radius: 8px; padding: 10px 14px; margin-bottom: 16px; }
.problem { color: var(--bad); } .done { color: var(--good); }
.state { display: inline-flex; gap: 6px; align-items: center; font-weight: 600; white-space: nowrap; }
.state::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: currentColor; }
.state.good { color: var(--good); } .state.bad { color: var(--bad); } .state.warn { color: var(--warn); } .state.rest { color: var(--soft); }
table { width: 100%; min-width: 640px; border-collapse: collapse; font-size: 14px; }
th, td { text-align: left; padding: 8px 12px 8px 0; border-top: 1px solid var(--line); vertical-align: top; }
th, td.number, td.fixed { white-space: nowrap; } td.fixed, td.number { width: 1%; padding-right: 24px; }
th { color: var(--soft); font-weight: 400; font-size: 13px; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; margin-top: 8px; } .scroll:focus-visible { outline-offset: -3px; }
code { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
nav ul { display: flex; flex-wrap: wrap; gap: 16px; list-style: none; margin: 0 0 24px; padding: 0; }
details > summary { cursor: pointer; font-weight: 600; font-size: 14px; padding: 4px 0; }
.faults { display: grid; gap: 8px 12px; grid-template-columns: 1fr; }
@media (min-width: 760px) { .faults { grid-template-columns: repeat(auto-fit, minmax(208px, 1fr)); } }
.fault { border: 1px solid var(--line); border-radius: 8px; padding: 12px; }
</style>`);
