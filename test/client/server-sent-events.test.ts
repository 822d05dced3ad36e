import { expect, it } from "vitest";
import { type ServerSentEvent, serverSentEvents } from "../../clients/typescript/src/server-sent-events.ts";

async function parse(...chunks: (string | Uint8Array)[]): Promise<ServerSentEvent[]> {
  async function* sent() {
    for (const chunk of chunks) yield typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
  }
  return Array.fromAsync(serverSentEvents(sent()));
}

it.each([
  ["\\n", "\n"],
  ["\\r\\n", "\r\n"],
  ["\\r", "\r"],
])("reads lines that end with %s", async (_name, end) => {
  const text = ["id: 1", "event: x", "data: one", "", ": alive", "", "data: two", "", ""].join(end);
  const events = [
    { id: "1", data: "one" },
    { id: "1", data: null },
    { id: "1", data: "two" },
  ];
  // What ends with \r may go on with \n: its last line waits for what follows.
  expect(await parse(`${text}:`)).toEqual(events);
  expect(await parse(...`${text}:`)).toEqual(events);
});

it("joins the lines of an event, and removes one space before each", async () => {
  expect(await parse("data: {\ndata:  two\ndata:}\ndata\n\n")).toEqual([{ id: "", data: "{\n two\n}\n" }]);
});

it("reads a character whose bytes arrive apart", async () => {
  const bytes = new TextEncoder().encode("data: Zoë\n\n");
  expect(await parse(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual([{ id: "", data: "Zoë" }]);
});

it("drops an event that is cut off", async () => {
  expect(await parse("id: 1\ndata: one\n\nid: 2\ndata: tw")).toEqual([{ id: "1", data: "one" }]);
});
