import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { LOCALES } from "../../../src/domain/locale.ts";
import { COMMON_REASONS, REASONS, type Reason, sentenceOf } from "../../../src/domain/refusals/reasons.ts";
import { Refusal, shownReason } from "../../../src/domain/refusals/refusal.ts";
import { statusOf } from "../../../src/http/status-of.ts";

const NAMES = Object.keys(REASONS) as Reason[];

it("documents every reason with its status", async () => {
  const page = await readFile(new URL("../../../docs/reference/errors.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm)].map(([, name, status]) => [
    name,
    Number(status),
  ]);
  expect(rows).toEqual(NAMES.map((name) => [name, statusOf[REASONS[name].code]]));
});

it.each(LOCALES)("has a text for every reason in %s", async (locale) => {
  const file = new URL(`../../../src/messages/${locale}/refusals.json`, import.meta.url);
  const { reasons } = JSON.parse(await readFile(file, "utf8"));
  expect(Object.keys(reasons).sort()).toEqual([...NAMES].sort());
});

it("puts the field in front of the sentence and among the parameters", () => {
  const params = { plan: "Pro", min: 1, max: 5 };
  const refusal = new Refusal({ reason: "seats_out_of_range", params, field: "seats" });
  expect(refusal).toMatchObject({ code: "invalid_input", message: "seats: Pro allows 1 to 5 seats" });
  expect(shownReason(refusal)).toEqual({
    reason: "seats_out_of_range",
    params: { field: "seats", ...params },
  });
  expect(sentenceOf({ reason: "seats_out_of_range", params }, "--seats")).toBe(
    "--seats: Pro allows 1 to 5 seats",
  );
});

it("counts among the common reasons only those that any operation can give", () => {
  expect(COMMON_REASONS.every((reason) => NAMES.includes(reason))).toBe(true);
});

it("has the seconds to wait in every reason with 429", () => {
  const rateLimited = NAMES.filter((name) => REASONS[name].code === "rate_limited");
  expect(rateLimited.filter((name) => REASONS[name].params.safeParse({}).success)).toEqual([]);
});
