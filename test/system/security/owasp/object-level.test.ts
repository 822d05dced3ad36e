import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../../../src/api/rest/routes.ts";
import { BODIES, nameOf, requestTo, routeNames } from "./requests.ts";
import { belongingsOf, CONFIDENTIAL, type SecurityContext, securityContext } from "./security-context.ts";
import { responseText, send } from "./send.ts";

const WITH_ID = ROUTES.filter((route) => route.path.includes(":") && route.operation.access !== "service");
const OWNED = WITH_ID.filter((route) => route.operation.access !== "admin");
const LISTS = ROUTES.filter(
  (route) => route.plural !== null && route.operation.access === "person" && !WITH_ID.includes(route),
);

/** What an administrator sees of every user, by id. */
const SHOWN_TO_ADMINISTRATORS = ["GET /subscriptions/:id/history"];

/** Unknown ids of the route's kind. */
const UNKNOWN: Record<string, () => string> = {
  subscriptions: randomUUID,
  "api-keys": randomUUID,
  notifications: () => "999999999999",
};

/** A victim's data, as a response would contain it. */
function tracesOf(on: SecurityContext): string[] {
  const { id, email, name, keyId, subscriptionIds, notificationIds } = on.victim;
  return [id, email, name, keyId, ...subscriptionIds, `"id":"${notificationIds[0]}"`, CONFIDENTIAL];
}

const context = securityContext();

describe("API1:2023 Broken Object Level Authorization", () => {
  let belongings: unknown;
  beforeAll(async () => {
    belongings = await belongingsOf(context, context.victim);
  });
  const expectUntouched = async () => expect(await belongingsOf(context, context.victim)).toEqual(belongings);

  it("this test lists every route that takes an id", () => {
    expect(routeNames((route) => WITH_ID.includes(route))).toEqual([
      "GET /subscriptions/:id",
      "GET /subscriptions/:id/history",
      "GET /subscriptions/:id/last-change",
      "POST /subscriptions/:id/change",
      "POST /subscriptions/:id/reconcile",
      "POST /subscriptions/:id/dismiss",
      "DELETE /api-keys/:id",
      "POST /service-keys/:id/rotate",
      "DELETE /service-keys/:id",
      "POST /notifications/:id/read",
      "GET /webhook-deliveries/:id",
      "POST /webhook-deliveries/:id/replay",
      "GET /event-endpoints/:id",
      "PATCH /event-endpoints/:id",
      "DELETE /event-endpoints/:id",
      "POST /event-endpoints/:id/test",
      "GET /event-endpoints/:id/deliveries",
      "POST /event-endpoints/:id/replay",
    ]);
  });

  it.each(OWNED.map((route) => [nameOf(route), route] as const))(
    "%s answers another user's id like an unknown one, and changes nothing",
    async (name, route) => {
      const stolen = requestTo(route, context.victim, context);
      const [, collection = ""] = route.path.split("/");
      const ownId = requestTo(route, context.attacker, context).split("/")[3] as string;
      const unknown = requestTo(route, context.attacker, context).replace(
        ownId,
        (UNKNOWN[collection] as () => string)(),
      );
      for (const as of [
        { cookie: context.attacker.cookie },
        { key: context.attacker.key },
        ...(SHOWN_TO_ADMINISTRATORS.includes(name)
          ? [{ key: context.admin.key }]
          : [{ cookie: context.admin.cookie }]),
      ]) {
        const isKeyRefused = "key" in as && route.operation.access === "session";
        const body = BODIES[name];
        const response = await send(context.url, stolen, { ...as, body });
        expect(response.status).toBe(isKeyRefused ? 403 : 404);
        const nobodys = await send(context.url, unknown, { ...as, body });
        expect([response.status, response.text]).toEqual([nobodys.status, nobodys.text]);
      }
      expect((await send(context.url, stolen, { body: BODIES[name] })).status).toBe(401);
      await expectUntouched();
    },
  );

  it.each(OWNED.map((route) => [nameOf(route), route] as const))(
    "%s refuses another user's id in another spelling or beside the caller's own",
    async (name, route) => {
      const { cookie } = context.attacker;
      const victims = requestTo(route, context.victim, context).split("/")[3] as string;
      const ownId = requestTo(route, context.attacker, context).split("/")[3] as string;
      const ids = [
        victims.toUpperCase(),
        `%20${victims}`,
        `${victims}%00`,
        `${victims}%0a`,
        `${ownId},${victims}`,
        `${ownId}%2f..%2f${victims}`,
        `${ownId}/../${victims}`,
        `{${victims}}`,
        `0${victims}`,
        "*",
        "%25",
        "me",
        "-1",
        "' or ''='",
        "1%20or%201=1",
        `${ownId}'%20or%20id='${victims}`,
      ];
      for (const id of ids) {
        const request = requestTo(route, context.victim, context).replace(victims, id.replaceAll(" ", "%20"));
        const response = await send(context.url, request, { cookie, body: BODIES[name] });
        expect([400, 404], `${request}: ${response.status} ${response.text}`).toContain(response.status);
      }
      for (const place of ["body", "query"] as const) {
        const request = requestTo(route, context.victim, context).replace(victims, randomOf(victims));
        const response = await send(context.url, place === "query" ? `${request}?id=${victims}` : request, {
          cookie,
          body: place === "body" && BODIES[name] ? { ...BODIES[name], id: victims } : BODIES[name],
        });
        expect([400, 404]).toContain(response.status);
      }
      await expectUntouched();
    },
  );

  it.each(LISTS.map((route) => [nameOf(route), `/api${route.path}`] as const))(
    "%s lists the caller's own items, whatever user is named",
    async (_, path) => {
      const { id, email } = context.victim;
      const responses = await Promise.all([
        ...["userId", "user_id", "user", "owner", "id", "filter[userId]", "where", "email"].map((name) =>
          send(context.url, `GET ${path}?${name}=${name === "email" ? email : id}`, {
            cookie: context.attacker.cookie,
          }),
        ),
        ...[
          "x-user-id",
          "x-user",
          "x-forwarded-user",
          "x-remote-user",
          "x-on-behalf-of",
          "x-impersonate",
        ].map((name) =>
          send(context.url, `GET ${path}`, { key: context.attacker.key, headers: { [name]: id } }),
        ),
        send(context.url, `GET ${path}`, { cookie: context.attacker.cookie, body: { userId: id } }),
        send(context.url, `GET ${path}`, {
          cookie: `user_id=${id}; userId=${id}; ${context.attacker.cookie}`,
        }),
      ]);
      for (const answer of responses) {
        expect([200, 400]).toContain(answer.status);
        // A refusal may quote its input; a list never does.
        if (answer.status === 200)
          for (const trace of tracesOf(context)) expect(answer.text).not.toContain(trace);
      }
      // The same request by the owner shows that the item exists.
      const owned = await send(context.url, `GET ${path}`, { cookie: context.victim.cookie });
      expect(tracesOf(context).some((trace) => owned.text.includes(trace))).toBe(path !== "/api/plans");
    },
  );

  it.each(LISTS.map((route) => [nameOf(route), `/api${route.path}`, route.plural as string] as const))(
    "%s returns only the caller's own items for a stolen or forged cursor",
    async (_, path, plural) => {
      const first = await send(context.url, `GET ${path}?limit=1`, { cookie: context.victim.cookie });
      const victims = first.body[plural][0] as { id: string; createdAt: string };
      const place = (id: string, micros: string) => Buffer.from(`${micros}.${id}`).toString("base64url");
      const cursors = [
        ...(first.body.nextCursor ? [first.body.nextCursor] : []),
        place(victims.id, "0"),
        place(victims.id, "99999999999999999"),
        place(victims.id, "-99999999999999999"),
        place(randomUUID(), `${Date.parse(victims.createdAt)}000`),
        place("' or user_id <> '", "0"),
        place(`${victims.id}\n${victims.id}`, "0"),
        victims.id,
        "999999999999999999",
        "{}",
      ];
      for (const cursor of cursors) {
        const response = await send(
          context.url,
          `GET ${path}?limit=100&cursor=${encodeURIComponent(cursor)}`,
          {
            cookie: context.attacker.cookie,
          },
        );
        expect([200, 400], response.text).toContain(response.status);
        for (const trace of tracesOf(context)) expect(response.text).not.toContain(trace);
      }
    },
  );

  it("answers ids of admin resources alike, known or unknown", async () => {
    for (const route of WITH_ID.filter(({ operation }) => operation.access === "admin")) {
      const victimsRequest = requestTo(route, context.victim, context);
      const id = victimsRequest.split("/")[3] as string;
      const as = { cookie: context.attacker.cookie, body: BODIES[nameOf(route)] };
      const [foreign, unknown] = [
        await send(context.url, victimsRequest, as),
        await send(context.url, victimsRequest.replace(id, randomOf(id)), as),
      ];
      expect(foreign.status).toBe(403);
      expect({ ...responseText(foreign), headers: null }).toEqual({
        ...responseText(unknown),
        headers: null,
      });
    }
  });

  it("returns the caller's own feed only", async () => {
    const feed = "/api/plugins/renewals/calendar.ics";
    const ownFeed = await send(context.url, `GET ${feed}`, { cookie: context.attacker.cookie });
    expect(ownFeed.text).toContain(context.attacker.subscriptionIds[0]);
    for (const path of [
      feed,
      `${feed}?userId=${context.victim.id}`,
      `${feed}?cursor=x&id=${context.victim.id}`,
    ]) {
      const response = await send(context.url, `GET ${path}`, { key: context.attacker.key });
      for (const trace of tracesOf(context)) expect(response.text).not.toContain(trace);
    }
    const victims = await send(context.url, `GET ${feed}`, { key: context.victim.key });
    const headers = { "if-none-match": victims.fields.etag as string };
    expect((await send(context.url, `GET ${feed}`, { key: context.attacker.key, headers })).status).toBe(200);
  });

  it("lets the owner access everything", async () => {
    for (const route of OWNED.filter(({ method }) => method !== "DELETE")) {
      const { cookie } = context.attacker;
      const response = await send(context.url, requestTo(route, context.attacker, context), {
        cookie,
        body: BODIES[nameOf(route)],
      });
      // No provider is configured here, so nothing can be changed there.
      const isOutbound = nameOf(route) === "POST /subscriptions/:id/change";
      expect(response.status).toBe(isOutbound ? 503 : 200);
    }
  });
});

/** An unknown id of the same kind. */
function randomOf(id: string): string {
  return /^\d+$/.test(id) ? "999999999998" : randomUUID();
}
