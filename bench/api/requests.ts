import { writeFileSync } from "node:fs";
import type { Credentials } from "./credentials.ts";
import type { ApiRequest } from "./reads.ts";

/** Whole requests, byte for byte, all of one length: signatures in cookies are not. */
export function readyMadeRequests(apiRequest: ApiRequest, credentials: readonly Credentials[]): string[] {
  const lengthOf = (person: Credentials) => request(apiRequest, person, 0).length;
  const longest = Math.max(...credentials.map(lengthOf));
  return credentials.map((person) => request(apiRequest, person, longest - lengthOf(person)));
}

function request(apiRequest: ApiRequest, credentials: Credentials, padding: number): string {
  const { method, path } = apiRequest;
  const lines = Object.entries({
    host: "127.0.0.1",
    "user-agent": `bench/1.0 ${"x".repeat(padding)}`,
    ...headersOf(apiRequest),
    ...credentials,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${bodyOf(apiRequest) ?? ""}`;
}

/** What clients of all three surfaces send. */
export function headersOf(apiRequest: ApiRequest): Record<string, string> {
  const body = bodyOf(apiRequest);
  return {
    accept: "application/json",
    ...(body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
  };
}

export function bodyOf(apiRequest: ApiRequest): string | undefined {
  return apiRequest.method === "POST" ? apiRequest.body : undefined;
}

/** Writes the requests one behind the other and returns the length that each of them has. */
export function writeRequests(file: string, requests: readonly string[]): number {
  writeFileSync(file, requests.join(""));
  return requests[0]?.length ?? 0;
}
