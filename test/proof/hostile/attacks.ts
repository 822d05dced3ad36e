import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { exchange, hold, trickle } from "./connections.ts";

/** One attempt: the status of the first response, or 0 when the connection was closed without one. */
type Attempt = (url: string) => Promise<number>;

export type Attack = {
  name: string;
  /** Attempts a second. */
  rate: number;
  /** Whether it holds its connection for seconds. */
  isHeld?: true;
  attempt: Attempt;
};

/** Clients of many networks, as a proxy names them: limits by address stop none of them. */
const stranger = () => `203.0.${randomInt(256)}.${randomInt(1, 255)}`;
const pick = <Item>(items: readonly Item[]): Item => items[randomInt(items.length)] as Item;
const hex = (bytes: number) => randomBytes(bytes).toString("hex");

type Message = { headers?: readonly string[]; body?: string };

function request(line: string, { headers = [], body }: Message = {}): string {
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const head = [
    `${line} HTTP/1.1`,
    ...["Host: localhost", `X-Forwarded-For: ${stranger()}`, "Connection: close"],
    ...[...length, ...headers],
  ];
  return `${head.join("\r\n")}\r\n\r\n${body ?? ""}`;
}

const JSON_TYPE = "Content-Type: application/json";
const SLOTS = ["provider-a", "provider-b", "provider-c"];
const UPGRADES = [
  "Upgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13",
  "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
];
const MALFORMED = [
  "GET\r\n\r\n",
  "GET / HTTP/9.9\r\n\r\n",
  "GET  /  HTTP/1.1\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
  "GET / HTTP/1.1\r\n Host: x\r\n\r\n",
  "POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
  "POST /api/chat HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  "GET http://u:p@host/api/auth/get-session HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  "GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  "GET /api/%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  "GET //evil.example/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET / HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(20_000)}\r\n\r\n`,
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "\u0016\u0003\u0001\u0002\u0000\u0001\u0000",
];
const nested = (depth: number) => `${"{ user ".repeat(depth)}{ id }${" }".repeat(depth)}`;
const aliased = (count: number) =>
  `{ ${Array.from({ length: count }, (_, n) => `a${n}: plans { id }`).join(" ")} }`;

/** @param stolen a delivery that is signed, and has been delivered before */
export function attacks(stolen: { headers: Record<string, string>; body: string }): readonly Attack[] {
  const stolenHeaders = Object.entries(stolen.headers).map(([name, value]) => `${name}: ${value}`);
  return [
    {
      name: "wrong API keys",
      rate: 10,
      attempt: (url) =>
        exchange(url, request("GET /api/users/me", { headers: [`Authorization: Bearer tg_${hex(20)}`] })),
    },
    {
      name: "password guesses",
      rate: 1,
      attempt: (url) => {
        const body = JSON.stringify({ email: `user_${randomInt(9)}@example.com`, password: hex(8) });
        return exchange(url, request("POST /api/auth/sign-in/email", { headers: [JSON_TYPE], body }));
      },
    },
    {
      name: "floods of reset mails",
      rate: 1,
      attempt: (url) => {
        const body = JSON.stringify({ email: `user_${randomInt(9)}@example.com` });
        const line = "POST /api/auth/request-password-reset";
        return exchange(url, request(line, { headers: [JSON_TYPE], body }));
      },
    },
    {
      name: "wrong service keys at event streams",
      rate: 4,
      attempt: (url) =>
        exchange(
          url,
          request("GET /api/events/stream", { headers: [`Authorization: Bearer tgs_${hex(20)}`] }),
        ),
    },
    {
      name: "guesses of second factors",
      rate: 2,
      attempt: (url) => {
        const path = pick(["verify-totp", "verify-backup-code"]);
        const body = JSON.stringify({ code: String(randomInt(100_000, 1_000_000)) });
        const headers = [JSON_TYPE, `Cookie: better-auth.two_factor=${hex(16)}.${hex(22)}`];
        return exchange(url, request(`POST /api/auth/two-factor/${path}`, { headers, body }));
      },
    },
    {
      name: "guesses of calendars' addresses",
      rate: 2,
      attempt: (url) => exchange(url, request(`GET /api/plugins/renewals/calendar.ics?token=${hex(20)}`)),
    },
    {
      name: "forged webhooks",
      rate: 15,
      attempt: (url) => {
        const signature = `Stripe-Signature: t=${Math.floor(Date.now() / 1000)},v1=${hex(32)}`;
        const body = JSON.stringify({ id: `evt_${hex(8)}`, type: "customer.subscription.deleted" });
        const headers = [JSON_TYPE, signature, `Paddle-Signature: ts=1;h1=${hex(32)}`];
        return exchange(url, request(`POST /api/webhooks/${pick(SLOTS)}`, { headers, body }));
      },
    },
    {
      name: "replayed webhooks",
      rate: 5,
      attempt: (url) =>
        exchange(
          url,
          request("POST /api/webhooks/provider-a", { headers: stolenHeaders, body: stolen.body }),
        ),
    },
    {
      name: "deep and wide GraphQL",
      rate: 4,
      attempt: (url) => {
        const body = JSON.stringify({ query: pick([nested(60), aliased(500), `${"{".repeat(5_000)}`]) });
        return exchange(url, request("POST /api/graphql", { headers: [JSON_TYPE], body }));
      },
    },
    {
      name: "large batches of RPC calls",
      rate: 2,
      attempt: (url) =>
        exchange(
          url,
          request(`GET /api/trpc/${Array(200).fill("billing.plans").join(",")}?batch=1&input={}`),
        ),
    },
    {
      name: "forged server actions",
      rate: 4,
      attempt: (url) => {
        const headers = [`Next-Action: ${hex(21)}`, "Content-Type: text/plain;charset=UTF-8"];
        return exchange(url, request("POST /sign-in", { headers, body: `["$K1",{"${hex(4)}":1}]` }));
      },
    },
    {
      name: "unknown pages and files",
      rate: 4,
      attempt: (url) => {
        const path = pick([
          "/_next/image?url=%2Fx&w=64&q=1",
          "/.env",
          `/${randomUUID()}`,
          "/_next/static/../x",
        ]);
        return exchange(url, request(`GET ${path}`));
      },
    },
    {
      name: "requests for an upgrade",
      rate: 4,
      attempt: (url) => {
        const path = pick(["/api/health", "/sign-in", "/api/webhooks/provider-a"]);
        const upgrade = `Connection: Upgrade\r\n${pick(UPGRADES)}`;
        return exchange(url, `GET ${path} HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n\r\n`);
      },
    },
    { name: "malformed heads", rate: 10, attempt: (url) => exchange(url, pick(MALFORMED)) },
    {
      name: "pipelined requests",
      rate: 1,
      attempt: (url) => exchange(url, "GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n".repeat(200)),
    },
    {
      name: "bodies that are too large",
      rate: 1,
      attempt: (url) =>
        exchange(
          url,
          request("POST /api/webhooks/provider-a", { headers: [JSON_TYPE], body: "x".repeat(3_000_000) }),
        ),
    },
    {
      name: "bodies that never end",
      rate: 3,
      isHeld: true,
      attempt: (url) =>
        trickle(
          url,
          `POST ${pick(["/api/webhooks/provider-a", "/api/chat", "/sign-in"])} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n`,
        ),
    },
    {
      name: "heads that never end",
      rate: 3,
      isHeld: true,
      attempt: (url) => trickle(url, "GET /api/health HTTP/1.1\r\nHost: x\r\nX-Slow: "),
    },
    { name: "idle connections", rate: 20, isHeld: true, attempt: (url) => hold(url) },
  ];
}
