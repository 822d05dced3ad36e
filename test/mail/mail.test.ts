import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createMail } from "../../src/mail/mail.ts";
import { eventually } from "../support/eventually.ts";
import { type Reply, type SmtpServer, smtpServer } from "../support/smtp-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const EMAIL = {
  to: "person@example.com",
  subject: "Passwort zurücksetzen",
  text: "Öffne http://localhost:3000/x?token=secret-token\n.\nEnde\n",
};
const FROM = "Tollgate <no-reply@example.com>";

const lines: { level: string; fields: object; message: string }[] = [];
const line = (level: string) => (fields: object, message: string) => {
  lines.push({ level, fields, message });
};
const log = { info: line("info"), warn: line("warn"), error: line("error") };

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
  lines.length = 0;
});

async function folder(): Promise<string> {
  const path = await temporaryFolder();
  return path;
}

async function server(reply?: Reply): Promise<SmtpServer> {
  const started = await smtpServer(reply);
  cleanUps.push(started.close);
  return started;
}

describe("without a mail server", () => {
  it("keeps a long link on one line of the mail file", async () => {
    const link = `http://localhost:3000/reset-password/${"a1B2=".repeat(40)}?callbackURL=%2Freset-password`;
    const dataDir = await folder();
    const mail = createMail({ smtpUrl: null, from: FROM, dataDir, log });
    mail.send({ ...EMAIL, text: `Öffnen Sie diesen Link:\n\n${link}\n` });
    await mail.close();
    const [file = ""] = await readdir(join(dataDir, "mail"));
    const text = await readFile(join(dataDir, "mail", file), "utf8");
    expect(text.split(/\r?\n/)).toContain(link);
    expect(text).toContain("Öffnen");
    expect(text).toMatch(/^Content-Transfer-Encoding: 8bit\r?$/m);
  });

  it("writes mail to a file that only its owner can read, and logs its path", async () => {
    const dataDir = await folder();
    const mail = createMail({ smtpUrl: null, from: FROM, dataDir, log });
    mail.send(EMAIL);
    mail.send({ ...EMAIL, to: "other@example.com" });
    await mail.close();
    const files = await readdir(join(dataDir, "mail"));
    expect(files).toHaveLength(2);
    const file = join(dataDir, "mail", files[0] as string);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(dataDir, "mail"))).mode & 0o777).toBe(0o700);
    const text = await readFile(file, "utf8");
    expect(text).toMatch(/^From: Tollgate <no-reply@example.com>\r?$/m);
    expect(text).toMatch(/^To: (person|other)@example.com\r?$/m);
    expect(text).toMatch(/^Subject: =\?UTF-8\?/m);
    expect(lines).toContainEqual({
      level: "info",
      message: "mail written",
      fields: { subject: EMAIL.subject, file },
    });
    expect(JSON.stringify(lines)).not.toMatch(/secret-token|person@example/);
  });

  it("logs a folder that cannot be written to, without failing the caller", async () => {
    const mail = createMail({ smtpUrl: null, from: FROM, dataDir: "/dev/null", log });
    const outcomes: string[] = [];
    mail.send(EMAIL, async (outcome) => void outcomes.push(outcome));
    await mail.idle();
    expect(lines).toMatchObject([{ level: "error" }]);
    expect(outcomes).toEqual(["unsent"]);
  });
});

describe("with a mail server", () => {
  it("sends mail by SMTP", async () => {
    const smtp = await server();
    const mail = createMail({ smtpUrl: smtp.url, from: FROM, dataDir: await folder(), log });
    mail.send(EMAIL);
    mail.send({ ...EMAIL, to: "other@example.com" });
    await mail.close();
    expect(smtp.mails.map(({ to }) => to).sort()).toEqual(["<other@example.com>", "<person@example.com>"]);
    const [first] = smtp.mails;
    expect(first?.from).toBe("<no-reply@example.com>");
    expect(first?.data).toContain("secret-token");
    expect(lines.map(({ message }) => message)).toEqual(["mail sent", "mail sent"]);
  });

  it("adds no recipient or header for a line break in an address", async () => {
    const smtp = await server();
    const mail = createMail({ smtpUrl: smtp.url, from: FROM, dataDir: await folder(), log });
    mail.send({
      ...EMAIL,
      to: "person@example.com\r\nBcc: evil@example.com",
      subject: "x\r\nBcc: evil@example.com",
    });
    await mail.close();
    expect(smtp.mails).toHaveLength(1);
    expect(smtp.mails[0]?.to).not.toBe("<evil@example.com>");
    expect(smtp.mails[0]?.data).not.toMatch(/^Bcc:/m);
  });

  it("logs a server that refuses, without failing the caller", async () => {
    const smtp = await server(({ verb }) => (verb === "RCPT" ? "550 no such mailbox" : undefined));
    const mail = createMail({ smtpUrl: smtp.url, from: FROM, dataDir: await folder(), log });
    mail.send(EMAIL);
    await mail.close();
    const fields = { subject: EMAIL.subject, code: "EENVELOPE", command: "RCPT TO", responseCode: 550 };
    expect(lines).toEqual([{ level: "error", fields, message: "mail rejected by the mail server" }]);
    expect(JSON.stringify(lines)).not.toMatch(/secret-token|person@example/);
  });

  it.each([
    ["CONNECT", "554 no service for this address", "unsent"],
    ["EHLO", "530 not now", "unsent"],
    ["MAIL", "530 Must issue a STARTTLS command first", "unsent"],
    ["RCPT", "550 no such mailbox", "done"],
    ["DATA", "554 no valid recipients", "done"],
    ["BODY", "554 spam", "done"],
  ])(
    "is done with a mail only when it is this mail that is rejected: %s, %s",
    async (verb, reply, outcome) => {
      const smtp = await server((command) =>
        command.verb === verb || (verb === "EHLO" && command.verb === "HELO") ? reply : undefined,
      );
      const mail = createMail({ smtpUrl: smtp.url, from: FROM, dataDir: await folder(), log });
      const outcomes: string[] = [];
      mail.send(EMAIL, async (outcome) => void outcomes.push(outcome));
      await mail.close();
      expect(lines).toMatchObject([{ level: "error", message: "mail rejected by the mail server" }]);
      expect(outcomes).toEqual([outcome]);
    },
  );

  it.each([
    ["defers it", "450 try again later"],
    ["closes the connection", "hang up"],
  ])("sends a mail again when the server %s", async (_, reply) => {
    let refusals = 0;
    const smtp = await server(({ verb }) => {
      if (verb !== "RCPT" || refusals === 2) return undefined;
      refusals += 1;
      return reply;
    });
    const mail = createMail({ smtpUrl: smtp.url, from: FROM, dataDir: await folder(), log }, [0.01, 0.01]);
    mail.send(EMAIL);
    await eventually(async () => smtp.mails.length, 1);
    await mail.close();
    expect(lines.map(({ level }) => level)).toEqual(["warn", "warn", "info"]);
    expect(JSON.stringify(lines)).not.toMatch(/secret-token|person@example/);
  });

  it("waits five seconds first, and ten minutes before the last retry", async () => {
    let refusals = 0;
    const smtp = await server(({ verb }) => {
      if (verb !== "RCPT") return undefined;
      refusals += 1;
      return "450 try again later";
    });
    const mail = createMail({ smtpUrl: smtp.url, from: FROM, dataDir: await folder(), log });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    mail.send(EMAIL);
    for (const seconds of [5, 30, 120, 600]) {
      await mail.idle();
      expect(lines.at(-1)).toMatchObject({ level: "warn", fields: { retryInSeconds: seconds } });
      vi.advanceTimersByTime(seconds * 1000);
    }
    await mail.idle();
    expect(lines.at(-1)).toMatchObject({ level: "error", fields: { attempts: 5 } });
    expect(refusals).toBe(5);
  });

  it("gives up after the last retry", async () => {
    const smtp = await server(({ verb }) => (verb === "RCPT" ? "450 try again later" : undefined));
    const mail = createMail({ smtpUrl: smtp.url, from: FROM, dataDir: await folder(), log }, [0.01]);
    mail.send(EMAIL);
    await eventually(async () => lines.map(({ level }) => level), ["warn", "error"]);
    await mail.close();
    expect(lines[1]).toMatchObject({ message: "mail not sent: check SMTP_URL", fields: { attempts: 2 } });
    expect(smtp.mails).toEqual([]);
  });

  it("sends no mail again when the login is refused", async () => {
    const smtp = await server(({ verb }) =>
      verb === "EHLO" ? "250-test\r\n250 AUTH PLAIN" : verb === "AUTH" ? "535 no" : undefined,
    );
    const smtpUrl = smtp.url.replace("//", "//robot:secret@");
    const mail = createMail({ smtpUrl, from: FROM, dataDir: await folder(), log }, [3600]);
    mail.send(EMAIL);
    await mail.idle();
    const fields = { code: "EAUTH", responseCode: 535, attempts: 1 };
    expect(lines).toMatchObject([{ level: "error", fields, message: "mail not sent: check SMTP_URL" }]);
    await mail.close();
    expect(JSON.stringify(lines)).not.toMatch(/robot|secret/);
  });

  it.each(["", "<>"])("gives up a mail to %j without asking a server", async (to) => {
    const smtp = await server();
    const mail = createMail({ smtpUrl: smtp.url, from: FROM, dataDir: await folder(), log }, [3600]);
    const outcomes: string[] = [];
    mail.send({ ...EMAIL, to }, async (outcome) => void outcomes.push(outcome));
    await mail.close();
    const message = "mail not sent: its recipient's address is invalid";
    expect(lines).toMatchObject([{ level: "error", fields: { code: "EENVELOPE" }, message }]);
    expect([outcomes, smtp.verbs.includes("RCPT")]).toEqual([["done"], false]);
  });

  it("takes no more than a thousand mails while a server is silent", async () => {
    const { url } = await server(() => null);
    const errors: object[] = [];
    const ownLog = {
      info: () => {},
      warn: () => {},
      error: (fields: object, message: string) => errors.push({ ...fields, message }),
    };
    const mail = createMail({ smtpUrl: url, from: FROM, dataDir: "/nowhere", log: ownLog });
    cleanUps.push(() => mail.close());
    for (let n = 0; n < 1_000; n += 1) mail.send(EMAIL);
    const outcome = await new Promise((resolve) => mail.send(EMAIL, async (end) => resolve(end)));
    expect(outcome).toBe("unsent");
    expect(errors).toEqual([
      { subject: EMAIL.subject, message: "mail not sent: too many others are being sent" },
    ]);
  });

  it("does not hold up its closing for a server that does not respond", async () => {
    const smtp = await server(({ verb }) => (verb === "BODY" ? null : undefined));
    const mail = createMail({ smtpUrl: smtp.url, from: FROM, dataDir: await folder(), log });
    mail.send(EMAIL);
    await eventually(async () => smtp.verbs.includes("BODY"), true);
    await mail.close();
    expect(lines).toEqual([{ level: "error", fields: { unsent: 1 }, message: "stopped with mail unsent" }]);
    await smtp.close();
    await mail.idle();
    expect(lines.map(({ message }) => message).slice(1)).toEqual(["mail not sent: check SMTP_URL"]);
  });

  it("tries what waits once more when it is closed, and logs what it could not send", async () => {
    let isDown = true;
    const smtp = await server(({ verb }) => (verb === "RCPT" && isDown ? "450 try again later" : undefined));
    const sent = createMail({ smtpUrl: smtp.url, from: FROM, dataDir: await folder(), log }, [3600]);
    const unsent = createMail(
      { smtpUrl: "smtp://127.0.0.1:9", from: FROM, dataDir: await folder(), log },
      [3600, 3600],
    );
    for (const mail of [sent, unsent]) {
      mail.send(EMAIL);
      await mail.idle();
    }
    isDown = false;
    await sent.close();
    expect(smtp.mails).toHaveLength(1);
    await unsent.close();
    expect(lines.map(({ level }) => level)).toEqual(["warn", "warn", "info", "error"]);
  });
});
