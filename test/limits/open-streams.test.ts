import { expect, it } from "vitest";
import { openStreams } from "../../src/limits/open-streams.ts";

it("opens as many streams per id as the limit allows, and another once one is closed", () => {
  const open = openStreams(2);
  const [first, second] = [open.take("key_1"), open.take("key_1")];
  expect(open.take("key_1")).toBeNull();
  expect(open.take("key_2")).not.toBeNull();
  first?.();
  const third = open.take("key_1");
  expect(third).not.toBeNull();
  expect(open.take("key_1")).toBeNull();
  second?.();
  third?.();
  expect([open.take("key_1"), open.take("key_1"), open.take("key_1")]).toEqual([
    expect.any(Function),
    expect.any(Function),
    null,
  ]);
});

it("closes a stream once, however often that is called", () => {
  const open = openStreams(2);
  const close = open.take("key_1");
  open.take("key_1");
  for (let n = 0; n < 3; n += 1) close?.();
  expect(open.take("key_1")).not.toBeNull();
  expect(open.take("key_1")).toBeNull();
});
