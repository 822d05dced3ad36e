import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusalWords } from "../../src/app/gate/refusal-words.ts";
import type { RefusalCode } from "../../src/domain/refusal.ts";
import { textsIn } from "../messages/catalogs.ts";

const OPERATIONS = join(import.meta.dirname, "../../src/operations");

describe("the words for a refusal", () => {
  it.each([
    ["unauthorized", "Invalid email or password", "known.wrongPassword", {}],
    ["conflict", "There is an account with this address already", "known.addressTaken", {}],
    ["invalid_input", "This link is not valid, or not any more", "known.badLink", {}],
    ["invalid_input", "currentPassword: is not right", "known.wrongCurrentPassword", {}],
    ["invalid_input", "seats: Pro has 1 to 5", "known.seatsOfPlan", { plan: "Pro", min: 1, max: 5 }],
    ["invalid_input", "planId: Free is not sold", "known.planNotSold", { plan: "Free" }],
    ["invalid_input", "name: expected 1 to 100 characters", "known.lengthBetween", { min: 1, max: 100 }],
    ["invalid_input", "password: expected at least 8 characters", "known.tooShort", { min: 8 }],
    ["invalid_input", "confirmation: expected at least 1 character", "known.tooShort", { min: 1 }],
    ["invalid_input", "seats: expected at least 1", "known.tooFew", { min: 1 }],
    ["invalid_input", "email: expected an e-mail address", "known.badAddress", {}],
    ["invalid_input", "locale: expected one of en, de, es, zh", "invalidInput", {}],
    ["conflict", "what nobody has thought of", "conflict", {}],
    ["rate_limited", "Too many requests. Please wait a moment.", "rateLimited", {}],
    // The sentence of another code is another sentence.
    ["forbidden", "Invalid email or password", "forbidden", {}],
  ] as const)("%s, %j", (code, sentence, key, values) => {
    expect(refusalWords(code, sentence)).toEqual({ key, values });
  });

  it("are there for every sentence that an operation refuses with, but for those that no page leads to", () => {
    const sentences = refusalsOfOperations();
    expect(sentences.length).toBeGreaterThan(25);
    const untold = sentences.filter(
      ({ code, sentence }) =>
        !refusalWords(code, sentence).key.startsWith("known.") && !FOR_PROGRAMS.test(sentence),
    );
    expect(untold).toEqual([]);
  });

  it("are all in use", () => {
    const used = readFileSync(join(OPERATIONS, "../app/gate/refusal-words.ts"), "utf8");
    const texts = [...textsIn("en").keys()].filter((key) => key.startsWith("refusals.known."));
    expect(texts.length).toBeGreaterThan(25);
    expect(texts.filter((key) => !used.includes(`"${key.replace("refusals.known.", "")}"`))).toEqual([]);
  });
});

/** Cursors, the command line, the assistant, and what the gate says for every operation. */
const FOR_PROGRAMS =
  /^(cursor: |\d+ of \d+ users were not|there is no (API|subscription) ?\w* 7|The assistant |(Unauthorized|Forbidden|Service unavailable)$)/;

/** With a 7 wherever something is put in. */
function refusalsOfOperations(): { code: RefusalCode; sentence: string }[] {
  const sources = readdirSync(OPERATIONS, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(OPERATIONS, name), "utf8"));
  const constants = new Map(
    sources.flatMap((source) =>
      [...source.matchAll(/const ([A-Z_]+) =\s*"([^"]+)"/g)].map(([, name, text]) => [name, text] as const),
    ),
  );
  return sources.flatMap((source) =>
    [...source.matchAll(/refuse\(\s*"(\w+)",\s*(?:"([^"]+)"|`([^`]+)`|([A-Z_]+)\b)/g)].flatMap(
      ([, code, plain, template, constant]) => {
        const sentence = plain ?? template?.replace(/\$\{[^}]*\}/g, "7") ?? constants.get(constant);
        return sentence === undefined ? [] : [{ code: code as RefusalCode, sentence }];
      },
    ),
  );
}
