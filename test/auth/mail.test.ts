import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createMail } from "../../src/auth/mail.ts";
import type { LogLine } from "./accounts.ts";

const LETTER = {
  to: "person@example.com",
  subject: "Passwort zurücksetzen",
  text: "Öffne http://localhost:3000/x?token=secret-token\n.\nEnde\n",
};
const FROM = "Tollgate <no-reply@example.com>";

const lines: LogLine[] = [];
const line = (level: string) => (fields: object, message: string) => {
  lines.push({ level, fields, message });
};
const log = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
  lines.length = 0;
});

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "tollgate-mail-"));
  cleanUps.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

describe("without a mail server", () => {
  it("mail is written to a file that only its owner can read, and the log says where", async () => {
    const dataDir = await folder();
    const mail = createMail({ smtpUrl: null, from: FROM, dataDir, log });
    mail.send(LETTER);
    mail.send({ ...LETTER, to: "other@example.com" });
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
      fields: { to: expect.any(String), subject: LETTER.subject, file },
    });
    expect(JSON.stringify(lines)).not.toContain("secret-token");
  });

  it("a folder that cannot be written to is said in the log, and harms nobody", async () => {
    const mail = createMail({ smtpUrl: null, from: FROM, dataDir: "/dev/null", log });
    mail.send(LETTER);
    await mail.idle();
    expect(lines).toMatchObject([{ level: "error" }]);
  });
});

describe("with a mail server", () => {
  it("mail is handed over to it", async () => {
    const server = await smtpServer();
    const mail = createMail({ smtpUrl: server.url, from: FROM, dataDir: await folder(), log });
    mail.send(LETTER);
    mail.send({ ...LETTER, to: "other@example.com" });
    await mail.close();
    expect(server.mails.map(({ to }) => to).sort()).toEqual(["<other@example.com>", "<person@example.com>"]);
    const [first] = server.mails;
    expect(first?.from).toBe("<no-reply@example.com>");
    expect(first?.data).toContain("secret-token");
    expect(lines.map(({ message }) => message)).toEqual(["mail sent", "mail sent"]);
  });

  it("a line break in an address adds neither a recipient nor a header", async () => {
    const server = await smtpServer();
    const mail = createMail({ smtpUrl: server.url, from: FROM, dataDir: await folder(), log });
    mail.send({
      ...LETTER,
      to: "person@example.com\r\nBcc: evil@example.com",
      subject: "x\r\nBcc: evil@example.com",
    });
    await mail.close();
    expect(server.mails).toHaveLength(1);
    expect(server.mails[0]?.to).not.toBe("<evil@example.com>");
    expect(server.mails[0]?.data).not.toMatch(/^Bcc:/m);
  });

  it("one that refuses, or is not there, is said in the log alone", async () => {
    const server = await smtpServer({ refuse: true });
    for (const smtpUrl of [server.url, "smtp://127.0.0.1:9"]) {
      const mail = createMail({ smtpUrl, from: FROM, dataDir: await folder(), log });
      const start = performance.now();
      mail.send(LETTER);
      expect(performance.now() - start).toBeLessThan(50);
      await mail.close();
    }
    expect(lines.map(({ level }) => level)).toEqual(["error", "error"]);
    expect(JSON.stringify(lines)).not.toContain("secret-token");
  });
});

type Received = { from: string; to: string; data: string };

/** As much of RFC 5321 as one client needs. */
async function smtpServer({ refuse = false } = {}): Promise<{ url: string; mails: Received[] }> {
  const mails: Received[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    converse(socket, mails, refuse);
  });
  await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
  cleanUps.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, mails };
}

function converse(socket: Socket, mails: Received[], refuse: boolean): void {
  let from = "";
  let to = "";
  let buffered = "";
  let inData = false;
  socket.write("220 test\r\n");
  socket.on("data", (chunk) => {
    buffered += chunk.toString();
    for (;;) {
      const ending = inData ? "\r\n.\r\n" : "\r\n";
      const end = buffered.indexOf(ending);
      if (end === -1) return;
      const text = buffered.slice(0, end);
      buffered = buffered.slice(end + ending.length);
      if (inData) {
        mails.push({ from, to, data: text });
        inData = false;
        socket.write("250 taken\r\n");
        continue;
      }
      const command = text.slice(0, 4).toUpperCase();
      if (command === "MAIL") from = /<.*?>/.exec(text)?.[0] ?? "";
      if (command === "RCPT") to = /<.*?>/.exec(text)?.[0] ?? "";
      inData = command === "DATA";
      if (command === "RCPT" && refuse) socket.write("550 no such mailbox\r\n");
      else if (command === "QUIT") socket.end("221 bye\r\n");
      else socket.write(inData ? "354 go on\r\n" : "250 ok\r\n");
    }
  });
}
