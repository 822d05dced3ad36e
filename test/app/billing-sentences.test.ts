import { join } from "node:path";
import { createFormatter, createTranslator } from "next-intl";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Subscription } from "../../src/app/(account)/billing/subscription-state.ts";
import type { Locale } from "../../src/domain/locale.ts";
import { messagesIn } from "../../src/messages/messages.ts";

type Line = { label: string; value: string };
type Order = { planId?: string; seats?: string; interval?: string; isAtOnce?: boolean };
type Changed = { subscription: Subscription; preview: object | null };

/** Typed by hand: the pages have compiler options of their own. */
type Sentences = {
  previewLines(changed: Changed, order: object): Promise<Line[]>;
  unchangedText(changed: Changed, order: object): Promise<string | null>;
  changedText(changed: Changed, order: object): Promise<string>;
  milestoneSentence(subscription: Subscription): Promise<string>;
  changeLines(changes: object): Promise<{ label: string; before: string | null; after: string }[]>;
  /** As administrators see them. */
  describeChanges(changes: object): Promise<{ field: string; before: string; after: string }[]>;
};

const BILLING = join(import.meta.dirname, "../../src/app/(account)/billing");
let sentences: Sentences;
beforeAll(async () => {
  const files = [
    "change-summary.ts",
    "milestone-sentence.ts",
    "change-lines.ts",
    "../admin/changes-table.tsx",
  ];
  sentences = Object.assign({}, ...(await Promise.all(files.map((file) => import(join(BILLING, file))))));
});

const price = (amount: number, interval = "month", currency = "EUR") => ({ amount, interval, currency });
const PLANS = [
  { id: "pro", name: "Pro", prices: [price(2000), price(20_000, "year"), price(2200, "month", "USD")] },
  { id: "team", name: "Team", prices: [price(4500, "month", "USD"), price(5000), price(50_000, "year")] },
];
const ACCESS = {
  subscriptionId: "1",
  planId: "pro",
  isOneTime: false,
  reason: "paid",
  price: price(2000),
  paidIn: { interval: "month", currency: "EUR" },
  scheduled: null as object | null,
};
const SUBSCRIPTION = {
  id: "1",
  planId: "pro",
  seats: 3,
  status: "active",
  currentPeriodEnd: new Date("2090-03-04T12:00:00Z"),
  cancelAtPeriodEnd: false,
} as Subscription;

const reader = vi.hoisted(() => ({ locale: "en" as Locale, access: {} as object }));

// Both need a request that Next.js serves.
vi.mock("next-intl/server", () => {
  const options = async () => ({
    locale: reader.locale,
    messages: await messagesIn(reader.locale),
    timeZone: "UTC",
  });
  return {
    getLocale: async () => reader.locale,
    getFormatter: async () => createFormatter(await options()),
    getTranslations: async (namespace: never) => createTranslator({ ...(await options()), namespace }),
  };
});
vi.mock("../../src/app/gate/read.ts", () => ({
  read: async ({ name }: { name: string }) => ({ items: name === "plans.list" ? PLANS : [reader.access] }),
}));

beforeEach(() => {
  reader.locale = "en";
  reader.access = ACCESS;
});

/** Some languages have narrow spaces in numbers. */
const shown = (text: string) => text.replace(/\s/g, " ");

const AS_IT_IS = { planId: null, seats: null, interval: null };

describe("the preview of a change", () => {
  const preview = (amountDue: number, currency = "EUR") => ({
    amountDue,
    currency,
    at: new Date("2090-01-02T00:00:00Z"),
  });

  async function lines(
    stated: ReturnType<typeof preview> | null,
    order: Order,
  ): Promise<Record<string, string>> {
    const changed = { subscription: SUBSCRIPTION, preview: stated };
    const all = await sentences.previewLines(changed, { ...AS_IT_IS, isAtOnce: true, ...order });
    return Object.fromEntries(all.map(({ label, value }) => [label, shown(value)]));
  }

  it("says what the provider charges, or gives back", async () => {
    expect(await lines(preview(1550), { planId: "team", seats: "6" })).toEqual({
      Plan: "Team",
      Seats: "6",
      "Takes effect": "Now",
      "Amount due": "€15.50",
    });
    const given = await lines(preview(-1550, "USD"), {});
    expect(given).toMatchObject({ Plan: "Pro", Seats: "3", Credit: "$15.50" });
    expect(given).not.toHaveProperty("Amount due");
  });

  it("says that the provider names no amount for a change at once", async () => {
    expect((await lines(null, { seats: "6" }))["Amount due"]).toMatch(/doesn’t state it in advance$/);
  });

  it.each([
    ["all seats of another plan, in the currency that is paid", { planId: "team", seats: "6" }, "€300"],
    ["the price that is paid, whatever it costs by now", { seats: "4" }, "€72"],
    ["another interval", { interval: "year" }, "€600"],
    ["another plan by the year", { planId: "team", interval: "year" }, "€1,500"],
  ])("says what the next period costs: %s", async (_, order, amount) => {
    reader.access = { ...ACCESS, price: price(1800) };
    const { "Amount due": due, "Takes effect": at } = await lines(null, { ...order, isAtOnce: false });
    expect([due, at]).toEqual([amount, "March 4, 2090"]);
  });

  it("says nothing about a cost that is not known", async () => {
    reader.access = { ...ACCESS, paidIn: null, price: null };
    const later = await lines(null, { planId: "team", isAtOnce: false });
    expect(Object.keys(later)).toEqual(["Plan", "Seats", "Takes effect"]);
  });

  it("names no cost in a currency other than the one the provider charges", async () => {
    const due = async (chargedCurrency: string | null) => {
      reader.access = { ...ACCESS, chargedCurrency };
      return (await lines(null, { planId: "team", isAtOnce: false }))["Amount due"];
    };
    expect([await due(null), await due("EUR"), await due("JPY")]).toEqual(["€150", "€150", undefined]);
  });
});

describe("a change of nothing", () => {
  const changed = { subscription: SUBSCRIPTION, preview: null };

  it.each([
    [{}, true],
    [{ planId: "pro", seats: "3", interval: "month" }, true],
    [{ planId: "team" }, false],
    [{ seats: "4" }, false],
    [{ interval: "year" }, false],
  ])("is told from one of something: %j", async (order, isNothing) => {
    expect((await sentences.unchangedText(changed, { ...AS_IT_IS, ...order })) !== null).toBe(isNothing);
  });

  it("withdraws what was to change at the end of the period", async () => {
    reader.access = { ...ACCESS, scheduled: {} };
    expect(await sentences.unchangedText(changed, AS_IT_IS)).toBeNull();
    const later = { ...AS_IT_IS, isAtOnce: false };
    expect(await sentences.changedText(changed, later)).toBe("Your plan won’t change.");
    expect(await sentences.changedText(changed, { ...later, seats: "4" })).toMatch(
      /takes effect on March 4, 2090\.$/,
    );
  });
});

describe("what happens next", () => {
  it.each<[Locale, Partial<Subscription>, sentence: string]>([
    ["en", {}, "Renews on March 4, 2090 for €60."],
    ["de", {}, "Verlängert sich am 4. März 2090 für 60 €."],
    ["es", {}, "Se renueva el 4 de marzo de 2090 por 60 €."],
    ["zh", {}, "将于 2090年3月4日续订，费用为 €60。"],
    ["en", { status: "trialing" }, "Trial ends on March 4, 2090, then €60."],
    ["en", { cancelAtPeriodEnd: true }, "Ends on March 4, 2090 and won’t renew."],
  ])("is said in %s with the price of all seats: %j", async (locale, state, sentence) => {
    reader.locale = locale;
    expect(shown(await sentences.milestoneSentence({ ...SUBSCRIPTION, ...state }))).toBe(sentence);
  });

  it.each([
    ["en", "active", "Pauses on March 4, 2090. You won’t be charged while it’s paused."],
    ["de", "trialing", "Pausiert ab dem 4. März 2090. Solange es pausiert ist, wird Ihnen nichts berechnet."],
    ["es", "active", "Se pausa el 4 de marzo de 2090. No se te cobrará mientras esté en pausa."],
    ["zh", "active", "将于 2090年3月4日暂停。暂停期间不会向您收费。"],
  ] as const)(
    "says in %s when an %s subscription pauses instead of renewing",
    async (locale, status, sentence) => {
      reader.locale = locale;
      reader.access = { ...ACCESS, pausesAtPeriodEnd: true };
      expect(await sentences.milestoneSentence({ ...SUBSCRIPTION, status })).toBe(sentence);
      expect(
        await sentences.milestoneSentence({ ...SUBSCRIPTION, status, cancelAtPeriodEnd: true }),
      ).not.toBe(sentence);
    },
  );

  it("names no price that another one replaces then, or that nobody knows", async () => {
    for (const access of [{ scheduled: {} }, { price: null }]) {
      reader.access = { ...ACCESS, ...access };
      expect(await sentences.milestoneSentence(SUBSCRIPTION)).toBe("Renews on March 4, 2090.");
    }
  });
});

describe("the history of a subscription", () => {
  it("says what changed in the reader's language, and nothing that is for administrators", async () => {
    reader.locale = "de";
    const lines = await sentences.changeLines({
      planId: [null, "pro"],
      seats: [1, 1200],
      status: ["active", "past_due"],
      cancelAtPeriodEnd: [false, true],
      currentPeriodEnd: ["2090-03-04T12:00:00.000Z", "2090-04-04T12:00:00.000Z"],
      outOfOrder: [true, false],
    });
    expect(lines.map(({ before, after }) => [before, after])).toEqual([
      [null, "Pro"],
      ["Aktiv", "Zahlung überfällig"],
      ["1", "1.200"],
      ["4. März 2090", "4. April 2090"],
      ["Nein", "Ja"],
    ]);
  });

  it("adds the time of day to a period's end that has moved within a day", async () => {
    const [line] = await sentences.changeLines({
      currentPeriodEnd: ["2090-03-04T12:00:00.000Z", "2090-03-04T12:00:07.000Z"],
    });
    expect([line?.before, line?.after].map((text) => shown(text ?? ""))).toEqual([
      "March 4, 2090 at 12:00:00 PM UTC",
      "March 4, 2090 at 12:00:07 PM UTC",
    ]);
  });

  it("tells administrators the time of day, with its time zone", async () => {
    const [change] = await sentences.describeChanges({
      currentPeriodEnd: [null, "2090-03-04T12:00:00.000Z"],
    });
    expect([change?.before, shown(change?.after ?? "")]).toEqual(["–", "Mar 4, 2090, 12:00:00 PM UTC"]);
  });
});
