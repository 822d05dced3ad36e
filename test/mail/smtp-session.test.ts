import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Composed } from "../../src/mail/compose.ts";
import { openSmtpSession, type SmtpSession } from "../../src/mail/smtp-session.ts";
import { type Reply, type SmtpServer, smtpServer } from "../support/smtp-server.ts";

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function server(reply: Reply = () => undefined): Promise<SmtpServer> {
  const started = await smtpServer(reply);
  cleanUps.push(started.close);
  return started;
}

/** Replies like this to one command; a mail's text is `BODY`. */
const at =
  (verb: string, reply: string | null): Reply =>
  (command) =>
    command.verb === verb ? reply : undefined;

async function open(smtp: SmtpServer, user = ""): Promise<SmtpSession> {
  const session = await openSmtpSession(smtp.url.replace("//", `//${user}`));
  if ("error" in session) throw new Error(JSON.stringify(session.error));
  return session;
}

const mail = (text = "Hello\r\n"): Composed => ({
  envelope: { from: "no-reply@example.com", to: ["person@example.com"] },
  raw: Buffer.from(`Subject: x\r\n\r\n${text}`),
});

describe("a mail", () => {
  it.each([
    ["rejected", "RCPT", "500 what?"],
    ["rejected", "RCPT", "550-5.1.1 There is\r\n550 5.1.1 no such person"],
    ["rejected", "DATA", "554 no"],
    ["rejected", "BODY", "552 too large"],
    ["rejected", "BODY", "554 spam"],
    ["deferred", "RCPT", "450 greylisted"],
    ["deferred", "RCPT", "499 later"],
    ["deferred", "DATA", "451 later"],
    ["deferred", "BODY", "452 disk full"],
    ["unsent", "MAIL", "451 later"],
    ["unsent", "MAIL", "550 not from you"],
    ["unsent", "RCPT", "421 closing"],
    ["unsent", "BODY", "421 closing"],
    ["unsent", "RCPT", "hang up"],
    ["unsent", "DATA", "hang up"],
    ["unknown", "BODY", "hang up"],
  ])("is %s where the server replies to %s: %j", async (outcome, verb, reply) => {
    const smtp = await server(at(verb, reply));
    const result = await (await open(smtp)).send(mail());
    const responseCode = Number.parseInt(reply, 10) || undefined;
    expect(result).toMatchObject({ outcome, error: responseCode === undefined ? {} : { responseCode } });
    expect(JSON.stringify(result)).not.toContain("person");
    expect(smtp.mails).toEqual([]);
  });

  it("is accepted with a reply of several lines, and the next one on the same connection", async () => {
    const smtp = await server(({ verb }) => (verb === "RCPT" ? "250-welcome\r\n250 ok" : undefined));
    const session = await open(smtp);
    for (let n = 0; n < 2; n += 1) expect(await session.send(mail())).toEqual({ outcome: "accepted" });
    session.close();
    expect(smtp.verbs.filter((verb) => ["CONNECT", "BODY"].includes(verb))).toEqual([
      "CONNECT",
      "BODY",
      "BODY",
    ]);
  });

  it("may have lines that begin with a dot, which would end it", async () => {
    const smtp = await server();
    const text = ".\r\nQUIT\r\n..\r\n.end\r\n";
    const session = await open(smtp);
    expect(await session.send(mail(text))).toEqual({ outcome: "accepted" });
    session.close();
    expect(smtp.mails).toHaveLength(1);
    // RFC 5321, section 4.5.2: the server removes a dot at the beginning of a line.
    const received = `${smtp.mails[0]?.data}\r\n`.replace(/^\./gm, "");
    expect(received).toBe(`Subject: x\r\n\r\n${text}`);
  });

  it("is rejected without a request where its address is none", async () => {
    const smtp = await server();
    const session = await open(smtp);
    const { envelope, raw } = mail();
    expect(await session.send({ envelope: { ...envelope, to: [""] }, raw })).toMatchObject({
      outcome: "rejected",
    });
    expect(smtp.verbs).not.toContain("RCPT");
  });
});

describe("a session", () => {
  it("says goodbye", async () => {
    const smtp = await server();
    const left = new Promise<void>((resolve) => {
      smtp.reply = ({ verb }) => {
        if (verb === "QUIT") resolve();
        return undefined;
      };
    });
    (await open(smtp)).close();
    await left;
  });

  it("that is cut while nothing is sent fails at the next mail, and no earlier", async () => {
    let cut = () => {};
    const greeting = createServer((socket) => {
      cut = () => socket.resetAndDestroy();
      socket.on("error", () => {});
      socket.on("data", () => socket.write("250 ok\r\n"));
      socket.write("220 test\r\n");
    }).listen(0, "127.0.0.1");
    await once(greeting, "listening");
    const uncaught = vi.fn();
    process.on("uncaughtException", uncaught);
    onTestFinished(() => void process.off("uncaughtException", uncaught));
    const session = await openSmtpSession(`smtp://127.0.0.1:${(greeting.address() as AddressInfo).port}`);
    cut();
    greeting.close();
    // By then, the client has noticed it.
    await once(greeting, "close");
    await sleep(100);
    expect(uncaught).not.toHaveBeenCalled();
    expect("error" in session ? session : await session.send(mail())).toMatchObject({ outcome: "unsent" });
  });

  it.each([
    ["a greeting that refuses", at("CONNECT", "554 no"), { responseCode: 554 }],
    ["a server that is gone at once", at("CONNECT", "hang up"), {}],
    ["a login that is refused", loginWith("535 no"), { code: "EAUTH", responseCode: 535 }],
    ["a login that is refused for now", loginWith("454 later"), { code: "EAUTH", responseCode: 454 }],
    ["a login at which the server leaves", loginWith("hang up"), {}],
    ["encryption that is offered and refused", encryptionWith("454 not now"), { responseCode: 454 }],
  ])("is not opened after %s", async (_, reply, error) => {
    const smtp = await server(reply);
    const session = await openSmtpSession(smtp.url.replace("//", "//robot:secret@"));
    expect(session).toEqual({ error: expect.objectContaining(error) });
    expect(JSON.stringify(session)).not.toMatch(/robot|secret/);
    expect(smtp.verbs).not.toContain("MAIL");
  });
});

describe("a server that hangs", { concurrent: true }, () => {
  it.each([
    ["in its greeting", "CONNECT"],
    ["after the client's", "EHLO"],
    ["while it is told the password", "AUTH"],
  ])("%s opens no session", async (_, verb) => {
    const smtp = await smtpServer(loginWith("235 ok", verb));
    const session = await openSmtpSession(smtp.url.replace("//", "//robot:secret@"));
    await smtp.close();
    expect(session).toMatchObject({ error: {} });
  });

  it("as encryption begins is sent no password without it", async () => {
    const smtp = await smtpServer(encryptionWith("220 go ahead"));
    const session = await openSmtpSession(smtp.url.replace("//", "//robot:secret@"));
    await smtp.close();
    expect(session).toMatchObject({ error: {} });
    expect(smtp.verbs).not.toContain("AUTH");
  });

  it.each([
    ["unsent", "MAIL"],
    ["unsent", "DATA"],
    ["unknown", "BODY"],
  ])("leaves a mail %s: at %s", async (outcome, verb) => {
    const smtp = await smtpServer(at(verb, null));
    const result = await (await open(smtp)).send(mail());
    await smtp.close();
    expect(result).toMatchObject({ outcome });
  });
});

/** @param silentAt the command that is not replied to */
function loginWith(reply: string, silentAt = ""): Reply {
  return ({ verb }) => {
    if (verb === silentAt) return null;
    if (verb === "EHLO") return "250-test\r\n250 AUTH PLAIN";
    return verb === "AUTH" ? reply : undefined;
  };
}

function encryptionWith(reply: string): Reply {
  return ({ verb }) => {
    if (verb === "EHLO") return "250-test\r\n250-AUTH PLAIN\r\n250 STARTTLS";
    if (verb === "AUTH") return "235 ok";
    return verb === "STAR" ? reply : undefined;
  };
}
