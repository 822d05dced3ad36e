import { describe, expect, it } from "vitest";
import { decideUser } from "../../src/import/decide-user.ts";
import type { UserRow } from "../../src/import/user-row.ts";
import type { KnownUser } from "../../src/store/reconciliation/imported-users.ts";
import type { UserState } from "../../src/store/users/user-states.ts";

const ANN: KnownUser = {
  id: "ann",
  externalId: "7",
  email: "ann@example.com",
  name: "Ann",
  locale: "de",
  role: "user",
  isEmailConfirmed: false,
  hasPassword: false,
};
const BOB: KnownUser = { ...ANN, id: "bob", externalId: null, email: "bob@example.com", name: "Bob" };

/** What a row does, of somebody who is known as these. */
function decided(row: Partial<UserRow>, ...known: KnownUser[]) {
  const states = new Map<string, UserState>([["gone", "deleted"]]);
  const absent = { id: null, externalId: null, email: "new@example.com", name: null, locale: null };
  return decideUser({ ...absent, ...row }, known, states);
}

const leftOut = (reason: string) => ({ outcome: "left out", reason: expect.stringContaining(reason) });

describe("a row of somebody who is not known", () => {
  it("creates a user with what it names, else named by the address and in English", () => {
    const row = { id: "x", externalId: "9", email: "new@example.com", name: "New", locale: "es" } as const;
    expect(decided(row, ANN, BOB)).toEqual({ outcome: "created", user: row });
    expect(decided({}, ANN, BOB)).toEqual({
      outcome: "created",
      user: { id: null, externalId: null, email: "new@example.com", name: "new", locale: "en" },
    });
  });

  it("names nobody with more than a hundred characters", () => {
    const user = { name: "x".repeat(100) };
    expect(decided({ email: `${"x".repeat(101)}@example.com` })).toMatchObject({ user });
  });

  it("creates nobody whose account was deleted", () => {
    expect(decided({ id: "gone" })).toEqual(leftOut("id: its account was deleted"));
  });
});

describe("a row of a known user", () => {
  it.each<[string, Partial<UserRow>]>([
    ["id", { id: "ann" }],
    ["external id", { externalId: "7" }],
    ["address", { email: ANN.email }],
  ])("is recognised by the %s alone", (_, row) => {
    const user = { ...ANN, email: row.email ?? "new@example.com" };
    expect(decided(row, BOB, ANN)).toEqual(
      row.email === undefined ? { outcome: "updated", user } : { outcome: "same" },
    );
  });

  it.each<[string, Partial<UserRow>, object]>([
    ["name", { name: "Anna" }, { name: "Anna" }],
    ["language", { locale: "zh" }, { locale: "zh" }],
    ["address", { id: "ann", email: "ann@new.example" }, { email: "ann@new.example" }],
  ])("changes only the %s where it names another", (_, row, change) => {
    expect(decided({ email: ANN.email, ...row }, ANN)).toEqual({
      outcome: "updated",
      user: { ...ANN, ...change },
    });
  });

  it("adds an external id, and never replaces one", () => {
    expect(decided({ externalId: "8", email: BOB.email }, BOB)).toMatchObject({ user: { externalId: "8" } });
    expect(decided({ externalId: "8", email: ANN.email }, ANN)).toEqual(leftOut('the account has "7"'));
  });

  it("is left out where it names more than one of them", () => {
    for (const row of [
      { id: "ann", email: BOB.email },
      { externalId: "7", email: BOB.email },
      { id: "bob", externalId: "7" },
    ])
      expect(decided(row, ANN, BOB)).toEqual(leftOut("belong to different accounts"));
  });

  it("is left out where it names another id", () => {
    expect(decided({ id: "eve", email: ANN.email }, ANN)).toEqual(leftOut('the account has the id "ann"'));
  });
});

describe("a row of somebody who has signed up, or is an administrator", () => {
  const theirs = { ...BOB, hasPassword: true, isEmailConfirmed: true };

  it.each([theirs, { ...BOB, role: "admin" as const }])("keeps name, language and address of %o", (user) => {
    expect(decided({ email: BOB.email, name: "Rob", locale: "zh" }, user)).toEqual({ outcome: "same" });
    expect(decided({ id: "bob", email: "rob@example.com" }, user)).toEqual(leftOut("keeps its address"));
  });

  it("gives an external id to nobody who has not confirmed the address, unless it names their id", () => {
    const claimed = { ...theirs, isEmailConfirmed: false };
    const row = { externalId: "8", email: BOB.email };
    expect(decided(row, claimed)).toEqual(leftOut("email: the account has not confirmed it"));
    for (const [given, user] of [
      [row, theirs],
      [row, BOB],
      [{ ...row, id: "bob" }, claimed],
    ] as const)
      expect(decided(given, user)).toMatchObject({ outcome: "updated", user: { externalId: "8" } });
    expect(decided(row, { ...claimed, externalId: "8" })).toEqual({ outcome: "same" });
    expect(decided({ email: BOB.email }, claimed)).toEqual({ outcome: "same" });
  });
});
