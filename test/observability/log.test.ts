import { expect, it } from "vitest";
import { newApiKey, newServiceKey } from "../../src/auth/callers/api-key.ts";
import { newLinkSecret } from "../../src/auth/plugin-link.ts";
import { createLog } from "../../src/observability/log.ts";

it("masks keys and link secrets wherever they stand in an entry", () => {
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) });
  const { secret } = newLinkSecret();
  const [{ key }, { key: serviceKey }] = [newApiKey(), newServiceKey()];
  const path = `/api/plugins/renewals/links/${secret}/calendar.ics`;
  log.error({ err: new Error(`no route for ${path}`), path, header: `Bearer ${key}` }, `with ${serviceKey}`);
  const [line = ""] = lines;
  for (const text of [secret, key, serviceKey]) expect(line).not.toContain(text);
  expect(JSON.parse(line)).toMatchObject({
    path: "/api/plugins/renewals/links/tgl_***/calendar.ics",
    header: "Bearer tg_***",
    msg: "with tgs_***",
    err: { message: "no route for /api/plugins/renewals/links/tgl_***/calendar.ics" },
  });
});

it.each([
  ["at the start of a line", (secret: string) => `refused:\n${secret}`],
  ["after a tab", (secret: string) => `key\t${secret}\tended`],
  ["in an encoded address", (secret: string) => `/sign-in?next=%2Flinks%2F${secret}%2Fcalendar.ics`],
  ["before an underscore", (secret: string) => `${secret}_`],
])("masks a secret %s", (_, write) => {
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) });
  const { secret } = newLinkSecret();
  log.warn({ text: write(secret) }, write(secret));
  expect(lines[0]).not.toContain(secret);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ text: write("tgl_***"), msg: write("tgl_***") });
});

it("escapes what ends a line for other programs, or steers a terminal", () => {
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) });
  // The next line, line and paragraph separators, one character for an escape sequence's first two, and text turned around.
  const path = "/a\u0085b\u2028c\u2029d\u009b2Je\u202ef\u007f";
  log.error({ path }, "request failed");
  expect(lines[0]).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ path });
});

it("writes the causes of an error, even of one that is its own", () => {
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) });
  const refused = Object.assign(new Error("no such table"), { code: "42P01", parameters: ["somebody"] });
  const err = new Error("the hook failed", { cause: refused });
  refused.cause = err;
  log.error({ err }, "applying an event failed");
  const [line = ""] = lines;
  expect(JSON.parse(line).err).toMatchObject({
    message: "the hook failed",
    cause: { message: "no such table", code: "42P01", stack: expect.any(String) },
  });
  expect(line).not.toContain("somebody");
});
