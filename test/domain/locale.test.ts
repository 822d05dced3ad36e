import { describe, expect, it } from "vitest";
import { closestTag } from "../../src/domain/locale.ts";

describe("a language with a region", () => {
  it.each([
    ["pt-BR", "pt-BR"],
    ["pt_br", "pt-BR"],
    ["pt-BR-x-work", "pt-BR"],
    ["pt", "pt-BR"],
    ["pt-PT", "pt-BR"],
    ["zh-TW", "zh-TW"],
    ["zh-Hant-TW", "zh"],
    ["zh-HK", "zh"],
    ["zh", "zh"],
    ["en-US", "en"],
    ["p", null],
    ["-BR", null],
    ["", null],
  ])("is found for %j: %s", (tag, locale) => {
    expect(closestTag(tag, ["en", "zh", "zh-TW", "pt-BR"])).toBe(locale);
  });
});
