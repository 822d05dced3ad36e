import { setImmediate as immediate } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Address } from "../../src/outbound/allowed-targets.ts";
import { sharedLookUps } from "../../src/outbound/shared-look-ups.ts";

const ADDRESS: Address = { address: "93.184.215.14", family: 4 };

/** Names are looked up until `answer` or `fail` is called. */
function nameServer() {
  const underWay = new Map<string, PromiseWithResolvers<Address[]>[]>();
  const next = (host: string) => underWay.get(host)?.shift() as PromiseWithResolvers<Address[]>;
  return {
    resolve: (host: string) => {
      const looking = Promise.withResolvers<Address[]>();
      underWay.set(host, [...(underWay.get(host) ?? []), looking]);
      return looking.promise;
    },
    answer: (host: string) => next(host).resolve([ADDRESS]),
    fail: (host: string) => next(host).reject(new Error("no name server answers")),
    /** The names that are being looked up, as often as they are. */
    hosts: () => [...underWay].flatMap(([host, all]) => all.map(() => host)),
  };
}

it("looks a name up once for all who ask meanwhile, and again for those who ask later", async () => {
  const { resolve, answer, hosts } = nameServer();
  const lookUp = sharedLookUps(resolve);
  const asked = Promise.all([lookUp("a"), lookUp("a"), lookUp("b")]);
  expect(hosts()).toEqual(["a", "b"]);
  answer("a");
  answer("b");
  expect(await asked).toEqual([[ADDRESS], [ADDRESS], [ADDRESS]]);
  const later = lookUp("a");
  expect(hosts()).toEqual(["a"]);
  answer("a");
  expect(await later).toEqual([ADDRESS]);
});

it("looks names that took long to fail up one after the other, until they have an address", async () => {
  const { resolve, answer, fail, hosts } = nameServer();
  const lookUp = sharedLookUps(resolve, 0);
  const outcomes = (...names: string[]) =>
    Promise.allSettled(names.map(lookUp)).then((all) => all.map(({ status }) => status));
  const first = outcomes("a", "b");
  fail("a");
  fail("b");
  expect(await first).toEqual(["rejected", "rejected"]);

  const second = outcomes("a", "b", "healthy");
  await immediate();
  expect(hosts()).toEqual(["a", "healthy"]);
  answer("healthy");
  fail("a");
  await immediate();
  expect(hosts()).toEqual(["b"]);
  answer("b");
  expect(await second).toEqual(["rejected", "fulfilled", "fulfilled"]);

  const third = outcomes("a", "b");
  await immediate();
  expect(hosts().sort()).toEqual(["a", "b"]);
  answer("a");
  answer("b");
  await third;
});

it("does not make a name wait for others that soon turned out not to exist", async () => {
  const { resolve, fail, hosts } = nameServer();
  const lookUp = sharedLookUps(resolve, 60_000);
  for (let n = 0; n < 2; n += 1) {
    const asked = Promise.allSettled([lookUp("a"), lookUp("b")]);
    await immediate();
    expect(hosts().sort()).toEqual(["a", "b"]);
    fail("a");
    fail("b");
    await asked;
  }
});
