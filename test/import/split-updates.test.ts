import { describe, expect, it } from "vitest";
import { splitUpdates, type UserUpdate } from "../../src/import/split-updates.ts";

const moved = (id: string, emailBefore: string, email = emailBefore): UserUpdate => ({
  user: { id, externalId: null, email, name: id, locale: "en" },
  emailBefore,
});

const split = (...updates: UserUpdate[]) =>
  splitUpdates(updates).map((round) => round.map(({ id, email }) => `${id} ${email}`));

describe("the updates of one statement", () => {
  it("are all that do not depend on each other", () => {
    expect(split()).toEqual([]);
    expect(split(moved("ann", "a"), moved("bob", "b", "x"), moved("cid", "c"))).toEqual([
      ["ann a", "bob x", "cid c"],
    ]);
  });

  it("end before a second one of the same user", () => {
    expect(split(moved("ann", "a", "x"), moved("bob", "b"), moved("ann", "x", "y"))).toEqual([
      ["ann x", "bob b"],
      ["ann y"],
    ]);
  });

  it("end before an address that one of them gives up is taken", () => {
    expect(split(moved("ann", "a", "x"), moved("bob", "b", "a"), moved("cid", "c", "b"))).toEqual([
      ["ann x"],
      ["bob a"],
      ["cid b"],
    ]);
  });
});
