import { type AddressInfo, createServer, type Socket } from "node:net";

export type Received = { from: string; to: string; data: string };

/** The client's command: `CONNECT` before the first one, `BODY` once the mail's text is complete. */
type SmtpCommand = { verb: string; line: string };

/** A reply in place of the usual one; `null`: none; `"hang up"`: the connection is closed. */
export type Reply = (command: SmtpCommand) => string | null | undefined | Promise<string | null | undefined>;

export type SmtpServer = {
  url: string;
  /** Accepted mails. */
  mails: Received[];
  /** Of the client, in order. */
  verbs: string[];
  /** May be changed at any time. */
  reply: Reply;
  close(): Promise<void>;
};

/** A mail server with the part of RFC 5321 that one client needs. @param port 0: any free port */
export async function smtpServer(reply: Reply = () => undefined, port = 0): Promise<SmtpServer> {
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    converse(socket, server);
  });
  await new Promise<void>((listens) => listener.listen(port, "127.0.0.1", listens));
  const server: SmtpServer = {
    url: `smtp://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    mails: [],
    verbs: [],
    reply,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => listener.close(closed));
    },
  };
  return server;
}

async function converse(socket: Socket, server: SmtpServer): Promise<void> {
  let from = "";
  let to = "";
  const answer = async (command: SmtpCommand, usual: string): Promise<boolean> => {
    server.verbs.push(command.verb);
    const answer = await server.reply(command);
    if (answer === "hang up") socket.destroy();
    else if (answer !== null) socket.write(`${answer ?? usual}\r\n`);
    return answer === undefined;
  };
  await answer({ verb: "CONNECT", line: "" }, "220 test");
  let inData = false;
  for await (const line of linesOf(socket, () => (inData ? "\r\n.\r\n" : "\r\n"))) {
    if (inData) {
      inData = false;
      if (await answer({ verb: "BODY", line }, "250 taken")) server.mails.push({ from, to, data: line });
      continue;
    }
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === "MAIL") from = /<.*?>/.exec(line)?.[0] ?? "";
    if (verb === "RCPT") to = /<.*?>/.exec(line)?.[0] ?? "";
    const usual = verb === "DATA" ? "354 go on" : verb === "QUIT" ? "221 bye" : "250 ok";
    inData = (await answer({ verb, line }, usual)) && verb === "DATA";
    if (verb === "QUIT") socket.end();
  }
}

async function* linesOf(socket: Socket, ending: () => string): AsyncGenerator<string> {
  let buffered = "";
  try {
    for await (const chunk of socket) {
      buffered += chunk.toString();
      for (let end = buffered.indexOf(ending()); end !== -1; end = buffered.indexOf(ending())) {
        const line = buffered.slice(0, end);
        buffered = buffered.slice(end + ending().length);
        yield line;
      }
    }
  } catch {
    // Disconnected.
  }
}
