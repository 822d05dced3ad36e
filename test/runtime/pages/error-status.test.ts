import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { errorStatus } from "../../../src/runtime/pages/error-status.ts";

type Status = ReturnType<typeof errorStatus>;

/** The status and `Retry-After` that are sent when Next.js responds with this status. */
function sent(method: string, status: number, during: (status: Status) => void) {
  const incoming = new IncomingMessage(new Socket());
  incoming.method = method;
  const outgoing = new ServerResponse(incoming);
  during(errorStatus(incoming, outgoing));
  outgoing.writeHead(status);
  return [outgoing.statusCode, outgoing.getHeader("retry-after") ?? null];
}

describe("an error of Next.js", () => {
  it("is sent as 400 until the posted request has been parsed", () => {
    expect(sent("POST", 500, () => {})).toEqual([400, null]);
    expect(sent("POST", 500, ({ markParsed }) => markParsed())).toEqual([500, null]);
    expect(sent("GET", 500, () => {})).toEqual([500, null]);
  });

  it("is sent with the status of the refusal, also when the page is rendered after it", () => {
    const refusedThenRendered = ({ setErrorStatus, markParsed }: Status) => {
      setErrorStatus("conflict");
      markParsed();
    };
    expect(sent("POST", 500, refusedThenRendered)).toEqual([409, null]);
  });

  it("is sent as 503 with Retry-After when something that the page reads is away", () => {
    const failing = ({ markParsed, setErrorStatus }: Status) => {
      markParsed();
      setErrorStatus("unavailable");
    };
    expect(sent("GET", 500, failing)).toEqual([503, 5]);
    // The page has recovered: its frame, for instance, is shown without the user's theme.
    expect(sent("GET", 200, failing)).toEqual([200, null]);
  });
});

describe("a page that cannot be served", () => {
  it.each([
    ["shows a message", 200, [503, 5]],
    ["fails while it shows it", 500, [503, 5]],
    ["redirects", 303, [303, null]],
    ["does not exist", 404, [404, null]],
  ] as const)("has the right status and Retry-After when it %s", (_, status, expected) => {
    expect(sent("POST", status, ({ cannotServe }) => cannotServe())).toEqual(expected);
  });
});

describe("a page that shows a message in place of itself", () => {
  it.each([
    ["a document", "text/html; charset=utf-8", 200, 404],
    // Scripts would load the whole document instead.
    ["fetched by scripts", "text/x-component", 200, 200],
    ["a document that redirects", "text/html; charset=utf-8", 307, 307],
  ])("has the message's status when it is %s", (_, contentType, status, expected) => {
    const incoming = new IncomingMessage(new Socket());
    const outgoing = new ServerResponse(incoming);
    outgoing.setHeader("content-type", contentType);
    expect(errorStatus(incoming, outgoing).setRefusalStatus("not_found")).toBe(true);
    outgoing.writeHead(status);
    expect(outgoing.statusCode).toBe(expected);
  });
});
