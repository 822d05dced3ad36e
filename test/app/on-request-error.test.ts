import { describe, expect, it } from "vitest";
import { type PageRequest, pageRequests } from "../../src/app/gate/page-request.ts";
import { onRequestError } from "../../src/instrumentation.ts";

function logged(error: unknown, { isOurs = true } = {}): unknown[] {
  const lines: unknown[] = [];
  const request = {
    id: "request-1",
    isOurFailure: () => isOurs,
    log: { error: (fields: unknown, message: string) => lines.push([fields, message]) },
  } as unknown as PageRequest;
  pageRequests().run(request, () => onRequestError(error));
  return lines;
}

describe("what a page throws and nobody has caught", () => {
  const error = new TypeError("a defect");

  it("is told to the operator, with the request that it happened in", () => {
    expect(logged(error)).toEqual([[{ err: error, requestId: "request-1" }, "a page or an action failed"]]);
    expect(logged("no error at all")).toHaveLength(1);
  });

  it("is not told twice: what could not be read is in the log already", () => {
    expect(logged(Object.assign(new Error("cannot be read"), { digest: "request-1" }))).toEqual([]);
    expect(logged(Object.assign(new Error("a defect"), { digest: "1234" }))).toHaveLength(1);
  });

  it("is nothing to wake anybody up for when it is a refusal, or a request that cannot be read", () => {
    expect(logged(error, { isOurs: false })).toEqual([]);
  });

  it("outside of a request is nothing to this", () => {
    expect(() => onRequestError(error)).not.toThrow();
  });
});
