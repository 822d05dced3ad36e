import { expect, it } from "vitest";
import type { ListedEvent } from "../../../src/domain/providers/payment-api.ts";
import { listedEvent, oldestFirst } from "../../../src/providers/outbound/oldest-first.ts";

const event = (name: string) => listedEvent(name, "type", {});

async function idsOf(events: AsyncIterable<ListedEvent>): Promise<string> {
  let ids = "";
  for await (const { eventId } of events) ids += eventId;
  return ids;
}

/** Every reading of the list gets the next of these; the last one stays. Each letter is an event. */
function listing(...readings: string[][]) {
  let reads = 0;
  const list = async function* () {
    const pages = readings[Math.min(reads, readings.length - 1)] as string[];
    reads += 1;
    for (const page of pages) yield [...page].map(event);
  };
  return { list, reads: () => reads };
}

const limits = (maxEvents: number, maxBytes = 1_000_000) => ({ maxEvents, maxBytes });

it("turns the pages round, and puts a repeated item where it is oldest", async () => {
  const { list, reads } = listing(["fed", "dca", "ba"]);
  expect(await idsOf(oldestFirst(list))).toBe("abcdef");
  expect(reads()).toBe(1);
});

it("gives a list of any length in order, keeping only as many items as it may", async () => {
  const { list, reads } = listing(["hg", "fe", "dc", "ba"]);
  expect(await idsOf(oldestFirst(list, limits(3)))).toBe("abcdefgh");
  expect(reads()).toBe(3);
});

it("gives items that appear while the list is read again, also repeated ones in front of them", async () => {
  const { list } = listing(["dc", "ba"], ["ae", "dc", "ba"]);
  expect(await idsOf(oldestFirst(list, limits(2)))).toBe("abcde");
});

it("keeps as many bytes as it may, and at least one item", async () => {
  const { list, reads } = listing(["dc", "ba"]);
  expect(await idsOf(oldestFirst(list, limits(100, 5)))).toBe("abcd");
  expect(reads()).toBe(2);
  const large = listing(["ba"]);
  expect(await idsOf(oldestFirst(large.list, limits(100, 1)))).toBe("ab");
});
