import { describe, expect, it } from "vitest";
import { type PageRequest, pageRequests } from "../../../src/app/gate/page-request.ts";
import { outputContext } from "../../../src/runtime/pages/output-context.ts";

function within(isOurFailure: boolean, output: string) {
  const request = { id: "request-1", isOurFailure: () => isOurFailure } as unknown as PageRequest;
  return pageRequests().run(request, () => outputContext(output));
}

describe("outputContext", () => {
  it("names the request in which an error was printed", () => {
    expect(within(true, "TypeError: a defect")).toEqual({ requestId: "request-1" });
  });

  it("returns null for refusals and unreadable requests", () => {
    expect(within(false, "Error: Failed to find Server Action")).toBeNull();
  });

  it("leaves out errors already logged under the request's id", () => {
    expect(within(true, "Error: cannot be read { digest: 'request-1' }")).toBeNull();
  });

  it("has no request id outside of a request", () => {
    expect(outputContext("a warning")).toEqual({});
  });
});
