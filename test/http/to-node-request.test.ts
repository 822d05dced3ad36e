import { expect, it } from "vitest";
import { BodyAborted, BodyTooLarge, readBody } from "../../src/http/read-body.ts";
import { toNodeRequest } from "../../src/http/to-node-request.ts";

/** A request whose body arrives in these parts; after an error it breaks off. */
function request(...parts: (string | Error)[]) {
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const part = parts.shift();
      if (part === undefined) controller.close();
      else if (part instanceof Error) controller.error(part);
      else controller.enqueue(new TextEncoder().encode(part));
    },
  });
  const headers = { "X-Forwarded-For": "192.0.2.7" };
  const options = { method: "POST", headers, body, duplex: "half" } as RequestInit;
  return toNodeRequest(new Request("https://app.example.com/api/usage?a=%20b", options), "127.0.0.1");
}

it("has what is read of a request of Node's", () => {
  expect(request()).toMatchObject({
    method: "POST",
    url: "/api/usage?a=%20b",
    headers: { "x-forwarded-for": "192.0.2.7" },
    socket: { remoteAddress: "127.0.0.1" },
  });
});

it("has its body, in parts of which some are empty", async () => {
  expect((await readBody(request("ab", "", "cde"), 5)).toString()).toBe("abcde");
  expect(await readBody(request(), 5)).toHaveLength(0);
  const withoutBody = toNodeRequest(new Request("https://app.example.com/api/plans"), "127.0.0.1");
  expect(await readBody(withoutBody, 5)).toHaveLength(0);
});

it("breaks off with its body, and is not read further than it may be long", async () => {
  await expect(readBody(request("ab", new Error("gone")), 5)).rejects.toBeInstanceOf(BodyAborted);
  await expect(readBody(request("abc", "def", "ghi"), 5)).rejects.toBeInstanceOf(BodyTooLarge);
});
