import axeCore from "axe-core";
import type { Page } from "playwright-core";

type Violation = { id: string; impact: string; nodes: { html: string; any: { message: string }[] }[] };

/** What axe-core finds: WCAG's levels A and AA, and good habits. The page's context has to bypass its policy. @param only these rules */
export async function axe(page: Page, only?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axeCore.source);
  const options = JSON.stringify(only ? { runOnly: only } : {});
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    `axe.run(document, { resultTypes: ["violations"], ...${options} })`,
  );
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, any }) => `${impact} ${id}: ${html.slice(0, 200)} ${any[0]?.message ?? ""}`),
  );
}
