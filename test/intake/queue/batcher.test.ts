import { expect, it, onTestFinished, vi } from "vitest";
import { type BatcherOptions, createBatcher } from "../../../src/intake/queue/batcher.ts";

type Item = { name: string; keys: readonly string[]; isAbandoned?: boolean };
type Limits = Pick<
  BatcherOptions<Item, string>,
  "bytesOf" | "maxItems" | "maxBytes" | "maxInFlight" | "maxActive" | "stalledAfterMs"
>;

/** A batcher whose groups end on demand, by the name of their first item. */
function manualBatcher(options: Partial<Limits> = {}) {
  const running = new Map<string, { names: string[]; closing(): void; end(): void }>();
  const batcher = createBatcher<Item, string>({
    keysOf: (item) => item.keys,
    bytesOf: () => 1,
    abandoned: (item) => (item.isAbandoned ? "abandoned" : null),
    maxItems: 4,
    maxBytes: 100,
    maxInFlight: 4,
    maxActive: 1,
    stalledAfterMs: 5,
    ...options,
    run: (group, { closing }) =>
      new Promise((resolve) => {
        const names = group.map(({ name }) => name);
        running.set(names[0] as string, { names, closing, end: () => resolve(names) });
      }),
  });
  const started = async (name: string) => {
    for (;;) {
      const group = running.get(name);
      if (group) return group;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const submit = (name: string, keys: readonly string[] = [name], isAbandoned = false) =>
    batcher.submit({ name, keys, isAbandoned });
  return { batcher, running, started, submit };
}

it("starts further groups while one is stuck, also after a quick one has finished", async () => {
  const { started, submit } = manualBatcher();
  const stuck = submit("stuck");
  const running = await started("stuck");
  for (const name of ["a", "b", "c", "d", "e"]) {
    const quick = submit(name);
    (await started(name)).end();
    expect(await quick).toBe(name);
  }
  running.end();
  expect(await stuck).toBe("stuck");
});

it("starts items in the order of submission", async () => {
  const { started, submit } = manualBatcher({ stalledAfterMs: 60_000 });
  const results = [submit("running")];
  const running = await started("running");
  for (const name of ["a", "b", "c", "d", "e", "f"]) results.push(submit(name));
  running.end();
  const first = await started("a");
  expect(first.names).toEqual(["a", "b", "c", "d"]);
  first.end();
  const second = await started("e");
  expect(second.names).toEqual(["e", "f"]);
  second.end();
  await Promise.all(results);
});

it("starts no more groups than may be in flight, however many of them are stuck", async () => {
  const { running, started, submit } = manualBatcher({ maxInFlight: 2 });
  const answers = [submit("a")];
  const a = await started("a");
  answers.push(submit("b"));
  const b = await started("b");
  answers.push(submit("c"));
  // Longer than it takes until both count as stalled.
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([...running.keys()]).toEqual(["a", "b"]);
  a.end();
  (await started("c")).end();
  b.end();
  expect(await Promise.all(answers)).toEqual(["a", "b", "c"]);
});

it.each([
  { of: "keys of their own", keysOf: (name: string) => [name] },
  { of: "one key", keysOf: () => ["k"] },
])(
  "takes as many items of $of as fit into the bytes of a group, and one that exceeds them alone",
  async ({ keysOf }) => {
    const { batcher, started, submit } = manualBatcher({
      bytesOf: ({ name }) => (name === "large" ? 11 : 5),
      maxBytes: 10,
      stalledAfterMs: 60_000,
    });
    const names = ["a", "b", "c", "large", "d"];
    const answers = names.map((name) => submit(name, keysOf(name)));
    expect(batcher.load()).toEqual({ items: 5, bytes: 31 });
    const groups: string[][] = [];
    for (const first of ["a", "c", "large", "d"]) {
      const group = await started(first);
      groups.push(group.names);
      group.end();
    }
    expect(groups).toEqual([["a", "b"], ["c"], ["large"], ["d"]]);
    expect(await Promise.all(answers)).toEqual(names);
    expect(batcher.load()).toEqual({ items: 0, bytes: 0 });
  },
);

it("starts an item behind two others only after both", async () => {
  const { started, submit } = manualBatcher({ maxActive: 2, stalledAfterMs: 60_000 });
  const answers = [submit("a")];
  const a = await started("a");
  a.closing();
  answers.push(submit("b"));
  const b = await started("b");
  b.closing();
  answers.push(submit("behind both", ["a", "b"]));
  a.end();
  answers.push(submit("other"), submit("behind other", ["b", "other"]));
  const other = await started("other");
  expect(other.names).toEqual(["other"]);
  other.end();
  b.end();
  const behind = await started("behind both");
  expect(behind.names).toEqual(["behind both", "behind other"]);
  behind.end();
  expect(await Promise.all(answers)).toEqual(["a", "b", "behind both", "other", "behind other"]);
});

it("keeps items with a common key in order behind a stuck group, and lets others pass", async () => {
  const { running, started, submit } = manualBatcher();
  const first = submit("first", ["a"]);
  const firstGroup = await started("first");
  const second = submit("second", ["a", "b"]);
  const third = submit("third", ["b"]);
  const unrelated = submit("other", ["c"]);
  (await started("other")).end();
  expect(await unrelated).toBe("other");
  expect([...running.keys()]).toEqual(["first", "other"]);
  firstGroup.end();
  const group = await started("second");
  expect(group.names).toEqual(["second", "third"]);
  group.end();
  expect(await Promise.all([first, second, third])).toEqual(["first", "second", "third"]);
});

it("starts the next group when the one before is closing, two at once at most", async () => {
  const { running, started, submit } = manualBatcher({ maxActive: 2, stalledAfterMs: 60_000 });
  const answers = [submit("a")];
  const a = await started("a");
  answers.push(submit("b"));
  a.closing();
  const b = await started("b");
  answers.push(submit("c"));
  b.closing();
  await new Promise((resolve) => setImmediate(resolve));
  expect([...running.keys()]).toEqual(["a", "b"]);
  a.end();
  (await started("c")).end();
  b.end();
  expect(await Promise.all(answers)).toEqual(["a", "b", "c"]);
});

it("takes half of many items, and the rest when that group is closing", async () => {
  const { running, started, submit } = manualBatcher({ maxItems: 100, maxActive: 2, stalledAfterMs: 60_000 });
  const answers = Array.from({ length: 20 }, (_, index) => submit(`a${index}`));
  const half = await started("a0");
  expect(half.names).toHaveLength(10);
  await new Promise((resolve) => setImmediate(resolve));
  expect([...running.keys()]).toEqual(["a0"]);
  half.closing();
  expect((await started("a10")).names).toHaveLength(10);
  for (const group of running.values()) group.end();
  await Promise.all(answers);
});

it("takes all items of one key into one group, as no other could have them meanwhile", async () => {
  const { started, submit } = manualBatcher({ maxItems: 100, maxActive: 2, stalledAfterMs: 60_000 });
  const answers = [submit("first", ["k"])];
  const first = await started("first");
  answers.push(...Array.from({ length: 20 }, (_, index) => submit(`k${index}`, ["k"])));
  first.end();
  const rest = await started("k0");
  expect(rest.names).toHaveLength(20);
  rest.end();
  await Promise.all(answers);
});

it("starts a group of less than half a large one in flight only after that has ended", async () => {
  const { running, started, submit } = manualBatcher({ maxItems: 100, maxActive: 2, stalledAfterMs: 60_000 });
  const names = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  const answers = names("a", 16).map((name) => submit(name));
  const large = await started("a0");
  expect(large.names).toHaveLength(8);
  large.closing();
  // The other eight are under way as well now: three are too few beside them, four are not.
  (await started("a8")).closing();
  large.end();
  answers.push(...names("b", 3).map((name) => submit(name)));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(running.has("b0")).toBe(false);
  answers.push(submit("b3"));
  expect((await started("b0")).names).toHaveLength(4);
  for (const group of running.values()) group.end();
  await Promise.all(answers);
});

it("keeps the keys of an item that leaves its group locked until its own result arrives", async () => {
  let answerLeaver: (answer: string) => void = () => {};
  const ran: string[][] = [];
  const batcher = createBatcher<Item, string>({
    keysOf: (item) => item.keys,
    bytesOf: () => 1,
    maxItems: 10,
    maxBytes: 100,
    maxInFlight: 4,
    maxActive: 1,
    stalledAfterMs: 60_000,
    run: async (group) => {
      ran.push(group.map(({ name }) => name));
      return group.map(({ name }) =>
        name === "leaver" ? new Promise<string>((resolve) => (answerLeaver = resolve)) : name,
      );
    },
  });
  const submit = (name: string, keys: string[]) => batcher.submit({ name, keys });
  const leaver = submit("leaver", ["a"]);
  expect(await submit("beside", ["b"])).toBe("beside");
  const behind = submit("behind", ["a"]);
  expect(await submit("later", ["b"])).toBe("later");
  expect(ran.flat()).not.toContain("behind");
  expect(batcher.load().items).toBe(2);
  answerLeaver("left");
  expect(await Promise.all([leaver, behind])).toEqual(["left", "behind"]);
  await batcher.idle();
});

it("answers an item that is done before its group, and starts those behind it", async () => {
  const started = Promise.withResolvers<void>();
  const submitted = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const batcher = createBatcher<Item, string>({
    keysOf: (item) => item.keys,
    bytesOf: () => 1,
    maxItems: 2,
    maxBytes: 100,
    maxInFlight: 4,
    maxActive: 2,
    stalledAfterMs: 60_000,
    run: async (group, { closing, done }) => {
      closing();
      if (group[0]?.name !== "quick") return group.map(({ name }) => name);
      started.resolve();
      await submitted.promise;
      done(0, "done");
      await ended.promise;
      return ["too late", "slow"];
    },
  });
  const submit = (name: string, keys: string[]) => batcher.submit({ name, keys });
  const [quick, slow] = [submit("quick", ["a"]), submit("slow", ["b"])];
  await started.promise;
  const [behindQuick, behindSlow] = [submit("behind quick", ["a"]), submit("behind slow", ["b"])];
  submitted.resolve();
  expect(await Promise.all([quick, behindQuick])).toEqual(["done", "behind quick"]);
  expect(batcher.load().items).toBe(2);
  ended.resolve();
  expect(await Promise.all([slow, behindSlow])).toEqual(["slow", "behind slow"]);
  await batcher.idle();
});

it("does not run an item twice when the one before it in its group is done early", async () => {
  const ran: string[][] = [];
  const first = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const batcher = createBatcher<Item, string>({
    keysOf: (item) => item.keys,
    bytesOf: () => 1,
    maxItems: 10,
    maxBytes: 100,
    maxInFlight: 4,
    maxActive: 2,
    stalledAfterMs: 60_000,
    run: async (group, { closing, done }) => {
      closing();
      ran.push(group.map(({ name }) => name));
      if (group.length > 1) {
        done(0, "first");
        await ended.promise;
      }
      return group.map(({ name }) => name);
    },
  });
  const submit = (name: string) => batcher.submit({ name, keys: ["k"] });
  const answers = [submit("first").finally(first.resolve), submit("second")];
  let isIdle = false;
  const idle = batcher.idle().then(() => {
    isIdle = true;
  });
  await first.promise;
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect({ ran, isIdle }).toEqual({ ran: [["first", "second"]], isIdle: false });
  ended.resolve();
  expect(await Promise.all(answers)).toEqual(["first", "second"]);
  await idle;
  await batcher.idle();
  expect(ran).toHaveLength(1);
});

it("rejects the others of a group that fails after one of them is done", async () => {
  const batcher = createBatcher<Item, string>({
    keysOf: (item) => item.keys,
    bytesOf: () => 1,
    maxItems: 2,
    maxBytes: 100,
    maxInFlight: 1,
    maxActive: 1,
    stalledAfterMs: 60_000,
    run: async (_, { done }) => {
      done(0, "done");
      throw new Error("failed");
    },
  });
  const submit = (name: string) => batcher.submit({ name, keys: [name] });
  const results = await Promise.allSettled([submit("done"), submit("other")]);
  expect(results).toMatchObject([{ value: "done" }, { reason: new Error("failed") }]);
  await batcher.idle();
});

it("rejects abandoned items without processing them, and starts those behind them", async () => {
  const { running, started, submit } = manualBatcher();
  const answers = [submit("a"), submit("abandoned", ["a"], true), submit("c", ["a"])];
  const group = await started("a");
  group.end();
  if (!group.names.includes("c")) (await started("c")).end();
  expect(await Promise.all(answers)).toEqual(["a", "abandoned", "c"]);
  expect([...running.values()].flatMap(({ names }) => names)).not.toContain("abandoned");
});

it("runs what arrives after an abandoned item only after the running one with the same key", async () => {
  const { running, started, submit } = manualBatcher({ maxActive: 2, stalledAfterMs: 60_000 });
  const answers = [submit("a"), submit("abandoned", ["a"], true)];
  const group = await started("a");
  group.closing();
  answers.push(submit("later", ["a"]), submit("other"));
  const other = await started("other");
  expect([...running.keys()]).toEqual(["a", "other"]);
  other.closing();
  group.end();
  (await started("later")).end();
  other.end();
  expect(await Promise.all(answers)).toEqual(["a", "abandoned", "later", "other"]);
});

it("does not let an item that names a key twice wait for itself", async () => {
  const { started, submit } = manualBatcher();
  const answers = [submit("a", ["k", "k"]), submit("b", ["k"])];
  const group = await started("a");
  group.end();
  if (!group.names.includes("b")) (await started("b")).end();
  expect(await Promise.all(answers)).toEqual(["a", "b"]);
});

it("measures the delay of items that are ready, not while they wait for a key", async () => {
  let nowMs = 1_000;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const { batcher, started, submit } = manualBatcher({ stalledAfterMs: 60_000 });
  const answers = [submit("a")];
  const running = await started("a");
  answers.push(submit("behind", ["a"]));
  nowMs += 5;
  expect(batcher.delayMs()).toBe(0);
  running.end();
  await answers[0];
  expect(batcher.delayMs()).toBe(0);
  const behind = await started("behind");
  answers.push(submit("free"));
  nowMs += 7;
  expect(batcher.delayMs()).toBe(7);
  behind.end();
  (await started("free")).end();
  await Promise.all(answers);
});
