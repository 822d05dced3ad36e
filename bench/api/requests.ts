import { writeFileSync } from "node:fs";
import type { Credentials } from "./credentials.ts";
import type { Question } from "./reads.ts";

/** Whole requests, byte for byte, all of one length: signatures in cookies are not. */
export function readyMadeRequests(question: Question, credentials: readonly Credentials[]): string[] {
  const lengthOf = (person: Credentials) => request(question, person, 0).length;
  const longest = Math.max(...credentials.map(lengthOf));
  return credentials.map((person) => request(question, person, longest - lengthOf(person)));
}

function request(question: Question, credentials: Credentials, padding: number): string {
  const { method, path } = question;
  const lines = Object.entries({
    host: "127.0.0.1",
    "user-agent": `bench/1.0 ${"x".repeat(padding)}`,
    ...headersOf(question),
    ...credentials,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${bodyOf(question) ?? ""}`;
}

/** What clients of all three surfaces send. */
export function headersOf(question: Question): Record<string, string> {
  const body = bodyOf(question);
  return {
    accept: "application/json",
    ...(body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
  };
}

export function bodyOf(question: Question): string | undefined {
  return question.method === "POST" ? question.body : undefined;
}

/** Writes the requests one behind the other and returns the length that each of them has. */
export function writeRequests(file: string, requests: readonly string[]): number {
  writeFileSync(file, requests.join(""));
  return requests[0]?.length ?? 0;
}
