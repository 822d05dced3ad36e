import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ADAPTERS } from "../../../../src/providers/registry.ts";
import { loadFixture } from "../../../fixtures/fixture.ts";
import { deliverWebhook } from "../../../support/http.ts";
import { type Exchange, type OpenAiServer, openAiServer } from "../../../support/openai-server.ts";
import { createUser } from "../../../support/people.ts";
import { GENEROUS_LIMITS, SECRETS } from "../../../support/variables.ts";
import { type Canary, canary } from "./canary.ts";
import { securityContext } from "./security-context.ts";
import { send } from "./send.ts";

const AI_KEY = "sk-that-nobody-may-see";

/** What a failing upstream reveals, which no client may read. */
const UPSTREAM_WORDS = "psql://upstream:hunter2@10.0.0.1 at /srv/upstream/handler.py:12";

type Json = Record<string, unknown>;

const context = securityContext();

describe("API10:2023 Unsafe Consumption of APIs", () => {
  let bird: Canary;
  let provider: OpenAiServer;
  let url: string;
  beforeAll(async () => {
    bird = await canary();
    provider = await openAiServer();
    url = await context.serverWith({
      ...GENEROUS_LIMITS,
      AI_BASE_URL: provider.baseUrl,
      AI_API_KEY: AI_KEY,
      AI_MODEL: "model-1",
    });
  });
  afterAll(async () => {
    await provider.close();
    await bird.close();
  });
  // The object prototype is unchanged.
  afterEach(() => expect(Object.keys(Object.prototype)).toEqual([]));

  let events = 0;
  /** An event with any content, signed as by the provider. */
  const altered = (
    change: (object: Json, event: Json) => void,
    userId: string,
    text?: (json: string) => string,
  ) => {
    events += 1;
    const eventId = `hostile-${events}`;
    const { body } = loadFixture("stripe", "customer.subscription.created", {
      eventId,
      subscriptionId: `sub-${eventId}`,
      customerId: `cus-${eventId}`,
      userId,
      planId: "team",
      seats: 7,
    });
    change((body.data as { object: Json }).object, body as Json);
    const json = JSON.stringify(body);
    return {
      eventId,
      sending: async () => {
        // Signed over the exact bytes: values that JSON.stringify cannot write are inserted as text.
        const raw = Buffer.from(text ? text(json) : json);
        return deliverWebhook(url, "provider-a", { rawBody: raw, headers: signedText(raw) });
      },
    };
  };
  const subscriptionOf = async (eventId: string) =>
    (
      await context.test.rows("select * from subscription where provider_subscription_id = $1", [
        `sub-${eventId}`,
      ])
    )[0];

  it("treats __proto__ in events as data", async () => {
    const { id } = await createUser(context.test);
    const poison =
      '"__proto__":{"role":"admin","isAdmin":true},"constructor":{"prototype":{"role":"admin"}},';
    const { eventId, sending } = altered(
      () => {},
      id,
      (json) =>
        json
          .replaceAll(/"(metadata|object|data)":\{(?!\})/g, (start) => `${start}${poison}`)
          .replace("{", `{${poison}`),
    );
    expect((await sending()).status).toBe(200);
    expect(({} as Json).role).toBeUndefined();
    expect(await subscriptionOf(eventId)).toMatchObject({ user_id: id, plan_id: "team", seats: 7 });
    const [person] = await context.test.rows<{ role: string }>(`select role from "user" where id = $1`, [id]);
    expect(person?.role).toBe("user");
    const [log] = await context.test.rows<{ id: string }>(
      "select id::text from webhook_delivery where event_id = $1",
      [eventId],
    );
    const shown = await send(url, `GET /api/webhook-deliveries/${log?.id}`, { cookie: context.admin.cookie });
    expect(shown.status).toBe(200);
    expect(Object.hasOwn(shown.body.payload, "__proto__")).toBe(true);
  });

  it("changes only subscriptions by events", async () => {
    const { id } = await createUser(context.test);
    const coveted = {
      role: "admin",
      isAdmin: true,
      banned: false,
      email: "other@example.com",
      user: { role: "admin" },
    };
    const { sending } = altered((object, event) => {
      Object.assign(object.metadata as Json, coveted);
      Object.assign(object, coveted);
      Object.assign(event, coveted, { table: "user", set: { role: "admin" } });
    }, id);
    const before = await context.test.rows(`select * from "user" order by id`);
    expect((await sending()).status).toBe(200);
    expect(await context.test.rows(`select * from "user" order by id`)).toEqual(before);
  });

  it("fails events with wrong values one at a time, without details", async () => {
    const { id } = await createUser(context.test);
    const item = (object: Json) => ((object.items as { data: Json[] }).data[0] ?? {}) as Json;
    const odd: unknown[] = [
      -1,
      0.5,
      1e308,
      2 ** 53,
      "7; drop table subscription",
      "1e9",
      true,
      null,
      [],
      {},
      [7],
      " 7 ",
    ];
    const changes: ((object: Json, event: Json) => void)[] = [
      ...odd.map((value) => (object: Json) => {
        item(object).quantity = value;
        object.quantity = value;
      }),
      ...odd.map((value) => (object: Json) => {
        object.status = value;
      }),
      ...odd.map((value) => (object: Json) => {
        item(object).current_period_end = value;
      }),
      ...odd.map((value) => (_: Json, event: Json) => {
        event.created = value;
      }),
      ...odd.map((value) => (object: Json) => {
        object.metadata = value;
      }),
      ...odd.map((value) => (object: Json) => {
        object.items = value;
      }),
      ...odd.map((value) => (object: Json) => {
        object.customer = value;
      }),
      ...odd.map((value) => (object: Json) => {
        object.id = value;
      }),
      (object) => {
        object.id = "x".repeat(100_000);
      },
      (object) => {
        object.customer = "x".repeat(100_000);
      },
      (object) => {
        (object.metadata as Json).userId = { toString: "x" };
      },
      (object) => {
        (object.metadata as Json).planId = "__proto__";
      },
      (object) => {
        (object.metadata as Json).planId = ["team"];
      },
      (object) => {
        object.status = "active'; update \"user\" set role = 'admin'; --";
      },
      (object) => {
        object.note = `\u0000${"\ud800"}`;
      },
    ];
    for (const change of changes) {
      const { sending } = altered(change, id);
      const { status, body } = await sending();
      const answer = JSON.stringify(body);
      expect([200, 400, 500], answer).toContain(status);
      expect(answer).toMatch(
        /^\{("received":true(,"\w+":true)?|"error":"(Processing failed|Invalid payload: [\w ,.-]+)")\}$/,
      );
    }
    const stored = await context.test.rows<{ seats: number; status: string; plan_id: string }>(
      "select seats, status, plan_id from subscription where user_id = $1",
      [id],
    );
    expect(stored).not.toEqual([]);
    for (const { seats, plan_id } of stored) {
      expect(Number.isInteger(seats) && seats >= 0).toBe(true);
      expect(["free", "pro", "team"]).toContain(plan_id);
    }
    // The next valid event is applied as usual.
    const { eventId, sending } = altered(() => {}, id);
    expect((await sending()).body).toEqual({ received: true });
    expect(await subscriptionOf(eventId)).toMatchObject({ user_id: id, seats: 7 });
  });

  it("does not move a subscription to another user by an event", async () => {
    const [owner, other] = [await createUser(context.test), await createUser(context.test)];
    const first = altered(() => {}, owner.id);
    expect((await first.sending()).status).toBe(200);
    const unknown = altered((object) => {
      object.id = `sub-${first.eventId}`;
      (object.metadata as Json).userId = "' or ''='";
    }, owner.id);
    await unknown.sending();
    expect(await subscriptionOf(first.eventId)).toMatchObject({ user_id: owner.id });
    const response = await send(url, "GET /api/subscriptions", { cookie: other.cookie });
    expect(response.body.subscriptions).toEqual([]);
  });

  it("stores markup in events as text", async () => {
    const { id, cookie } = await createUser(context.test);
    const markup = `<img src=x onerror=alert(1)>"'\`\${7*7}{{7*7}}</script><script>\u2028=cmd|' /C calc'!A0`;
    const { eventId, sending } = altered((object) => {
      object.description = markup;
      (object.metadata as Json).note = markup;
    }, id);
    expect((await sending()).status).toBe(200);
    const second = altered((object, event) => {
      event.type = markup.slice(0, 60);
      object.description = markup;
    }, id);
    expect((await second.sending()).body).toEqual({ received: true, ignored: true });
    for (const id of [eventId, second.eventId]) {
      const [log] = await context.test.rows<{ id: string }>(
        "select id::text from webhook_delivery where event_id = $1",
        [id],
      );
      const shown = await send(url, `GET /api/webhook-deliveries/${log?.id}`, {
        cookie: context.admin.cookie,
      });
      expect(shown.fields).toMatchObject({
        "content-type": "application/json",
        "x-content-type-options": "nosniff",
      });
      expect(shown.body.payload.data.object.description).toBe(markup);
    }
    const feed = await send(url, "GET /api/plugins/renewals/calendar.ics", { cookie });
    expect(feed.text).not.toContain("onerror");
  });

  it("rejects signed bytes that are not an event", async () => {
    const count = async () => (await context.test.rows("select id from webhook_delivery")).length;
    const before = await count();
    const bodies = [
      "",
      "null",
      "[]",
      '"text"',
      "{}",
      "{",
      '{"id":1,"type":2}',
      '{"id":"","type":"customer.subscription.created"}',
      `{"id":"${"x".repeat(256)}","type":"customer.subscription.created"}`,
      '{"id":"a\\u0000b","type":"customer.subscription.created"}',
      `{"id":"deep","type":"customer.subscription.created","data":${"[".repeat(200)}${"]".repeat(200)}}`,
      `{"id":"deep","type":"x","data":${"[".repeat(400_000)}`,
      "\ufeff{}",
    ];
    for (const body of [...bodies.map((text) => Buffer.from(text)), Buffer.from([0x7b, 0xff, 0x7d])]) {
      const response = await deliverWebhook(url, "provider-a", { rawBody: body, headers: signedText(body) });
      expect(response.status).toBe(400);
      expect(response.body.error).toMatch(/^Invalid payload: /);
    }
    expect(await count()).toBe(before);
  });

  const ask = (content = "How are you?") =>
    send(url, "POST /api/chat", {
      cookie: context.attacker.cookie,
      body: { messages: [{ role: "user", content }] },
    });
  const upstream =
    (status: number, headers: Record<string, string>, body: string) => (exchange: Exchange) => {
      exchange.response.writeHead(status, headers);
      exchange.response.end(body);
    };
  const html = { "content-type": "text/html" };
  const json = { "content-type": "application/json" };
  const stream = { "content-type": "text/event-stream" };

  it.each<[string, (exchange: Exchange) => void]>([
    [
      "fails with its inside in the body",
      upstream(500, json, JSON.stringify({ error: { message: UPSTREAM_WORDS } })),
    ],
    [
      "says that the key is wrong, and quotes it",
      upstream(401, json, JSON.stringify({ error: { message: AI_KEY } })),
    ],
    ["is a page", upstream(200, html, `<html>${UPSTREAM_WORDS}</html>`)],
    ["is a page that failed", upstream(502, html, `<html>${UPSTREAM_WORDS}</html>`)],
    [
      "limits us",
      upstream(429, { ...json, "retry-after": "99999999" }, JSON.stringify({ error: UPSTREAM_WORDS })),
    ],
    ["is no JSON", upstream(200, stream, `data: ${UPSTREAM_WORDS}\n\ndata: [DONE]\n\n`)],
    [
      "is JSON of another kind",
      upstream(200, stream, `data: ${JSON.stringify({ choices: UPSTREAM_WORDS })}\n\n`),
    ],
    [
      "is an error in the stream",
      upstream(200, stream, `data: {"error":{"message":"${UPSTREAM_WORDS}"}}\n\n`),
    ],
    [
      "pollutes",
      upstream(200, stream, `data: {"__proto__":{"role":"admin"},"choices":{"__proto__":[]}}\n\n`),
    ],
    ["hangs up", (exchange) => exchange.response.destroy()],
    [
      "sets cookies and headers of its own",
      upstream(
        500,
        { ...json, "set-cookie": "session=planted", "x-upstream": UPSTREAM_WORDS, location: "/evil" },
        "{}",
      ),
    ],
  ])("reveals nothing to the user of an assistant that %s", async (_, answer) => {
    provider.answer(answer);
    const { status, text, fields: headers } = await ask();
    const shownText = text + JSON.stringify(headers);
    for (const secret of [AI_KEY, "hunter2", "10.0.0.1", "/srv/", "planted", "x-upstream", provider.baseUrl])
      expect(shownText).not.toContain(secret);
    expect([200, 503], text).toContain(status);
    if (status === 503)
      expect(JSON.parse(text)).toEqual({ error: expect.stringMatching(/^[A-Z][\w ,.:']+$/) });
    expect(headers["content-type"]).toMatch(status === 503 ? /^application\/json/ : /^text\/event-stream/);
    expect(Object.keys(headers).filter((name) => name === "set-cookie" || name === "location")).toEqual([]);
  });

  it("drops tool calls of the assistant", async () => {
    provider.answer((exchange) => {
      exchange.delta({
        role: "assistant",
        tool_calls: [
          { index: 0, id: "1", type: "function", function: { name: "deleteUser", arguments: "{}" } },
        ],
      });
      exchange.finish("tool_calls");
    });
    const { text } = await ask();
    expect(text).not.toMatch(/deleteUser|tool-(input|output|call)\b/);
  });

  it("encodes the assistant's text as event-stream data", async () => {
    const words = 'x\n\ndata: [DONE]\n\nevent: error\r\ndata: {"type":"error"}\n\n<script>alert(1)</script>';
    provider.answer((exchange) => {
      exchange.say(words);
      exchange.finish();
    });
    const { text, fields: headers } = await ask();
    expect(headers).toMatchObject({
      "content-type": "text/event-stream",
      "x-content-type-options": "nosniff",
    });
    // A line that starts with a colon is a comment, which keeps the connection alive.
    const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith(":"));
    expect(lines.every((line) => line.startsWith("data: "))).toBe(true);
    expect(lines.filter((line) => line === "data: [DONE]")).toHaveLength(1);
    const deltas = lines.slice(0, -1).map((line) => JSON.parse(line.slice("data: ".length)) as Json);
    expect(deltas.map(({ delta }) => delta ?? "").join("")).toBe(words);
  });

  it.each([301, 302, 303, 307, 308])(
    "does not follow the assistant's redirect (%d) with words or key",
    async (status) => {
      provider.answer(upstream(status, { location: `http://127.0.0.1:${bird.port}/elsewhere` }, ""));
      const answer = await ask("words in confidence");
      expect(bird.visits.splice(0)).toEqual([]);
      expect(answer.status).toBe(503);
    },
  );
});

/** Signs bytes, which need not be an event. */
function signedText(rawBody: Buffer): Record<string, string> {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const signing = {
    secret: SECRETS["provider-a"],
    nowSeconds,
    eventId: "in the body",
    eventType: "in the body",
  };
  return { "content-type": "application/json", ...ADAPTERS.of("stripe").sign(rawBody, signing) };
}
