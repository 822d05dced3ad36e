import { execFile } from "node:child_process";
import dns from "node:dns";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { join } from "node:path";
import { createSecureContext, createServer, TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { checkAddress } from "../../src/doctor/check-address.ts";
import { checkDatabase } from "../../src/doctor/check-database.ts";
import { checkMail } from "../../src/doctor/check-mail.ts";
import { checkRedis } from "../../src/doctor/check-redis.ts";
import { checkWebhook } from "../../src/doctor/check-webhooks.ts";
import { startFailure } from "../../src/runtime/start-failure.ts";
import { openDatabase } from "../../src/store/database.ts";
import { waitForDatabase } from "../../src/store/wait-for-database.ts";
import { describeWith, findProgram } from "../support/installed-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { SECRETS } from "../support/variables.ts";

const OPENSSL = { openssl: findProgram("openssl") };

describeWith("a certificate that is not trusted", OPENSSL, ({ openssl }) => {
  let server: Server;
  let postgres: Server;
  const hostOf = (listener: Server) => `localhost:${(listener.address() as AddressInfo).port}`;
  beforeAll(async () => {
    const folder = await temporaryFolder();
    const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    await promisify(execFile)(openssl, [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
      ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
      ...["-keyout", keyFile, "-out", certFile],
    ]);
    const pair = { key: await readFile(keyFile), cert: await readFile(certFile) };
    server = createServer(pair).on("tlsClientError", () => {});
    // PostgreSQL agrees to TLS by one letter.
    postgres = createTcpServer((socket) => {
      socket
        .on("error", () => {})
        .once("data", () => {
          socket.write("S");
          const options = { isServer: true, secureContext: createSecureContext(pair) };
          new TLSSocket(socket, options).on("error", () => {});
        });
    });
    for (const listener of [server, postgres]) await once(listener.listen(0, "localhost"), "listening");
  });
  afterAll(() => {
    server.close();
    postgres.close();
  });

  afterEach(() => vi.restoreAllMocks());

  it("is named as what keeps browsers and providers out, not as a server that does not run", async () => {
    const appUrl = `https://${hostOf(server)}`;
    const config = readConfig({ APP_URL: appUrl });
    const finding = (url: string) => ({
      state: "broken",
      detail: expect.stringContaining(`the certificate at ${url} is not trusted: self-signed certificate`),
      remedy: expect.stringMatching(/^Give the proxy a valid certificate for this name/),
    });
    expect((await checkAddress(config)).finding).toMatchObject(finding(appUrl));
    const secrets = { secrets: [SECRETS["provider-a"]], isUsed: true };
    expect(await checkWebhook(config, "provider-a", secrets)).toMatchObject(
      finding(`${appUrl}/api/webhooks/provider-a`),
    );
  });

  /** @param atWait called when the first try has failed, before the next */
  const connect = async (hosts: string, atWait = () => {}) => {
    const opened = openDatabase({
      url: `postgres://me@${hosts}/tollgate?sslmode=verify-full`,
      prepared: true,
      maxConnections: 1,
      answerTimeoutMs: 5_000,
    });
    const onWaiting = vi.fn(atWait);
    const failure = await waitForDatabase(opened, 60_000, onWaiting).catch((error) => error);
    await opened.close();
    return { failure, onWaiting };
  };

  const passTime = () => {
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + 60_000);
  };

  it("of a standby does not keep a start from waiting for the primary", async () => {
    const { failure, onWaiting } = await connect(`127.0.0.1:1,${hostOf(postgres)}`, passTime);
    expect(onWaiting).toHaveBeenCalled();
    expect(startFailure(failure, "DATABASE_URL")).toMatch(
      /ECONNREFUSED.*; the certificate of another server is not trusted: self-signed/,
    );
  });

  it("of a standby hides no failure of a primary whose name has several addresses", async () => {
    const lookUp = dns.lookup as (...args: unknown[]) => void;
    const several = ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 }));
    const mocked = (host: string, options: object, found: (error: null, addresses: object[]) => void) =>
      host === "several.test" ? found(null, several) : lookUp(host, options, found);
    vi.spyOn(dns, "lookup").mockImplementation(mocked as never);
    const { failure } = await connect(`several.test:1,${hostOf(postgres)}`, passTime);
    expect(startFailure(failure, "DATABASE_URL")).toMatch(
      /cannot be reached: E[A-Z]+; the certificate of another/,
    );
  });

  it("of the database, of Redis or of the mail server comes with the way to trust its authority", async () => {
    const config = readConfig({
      DATABASE_URL: `postgres://me@${hostOf(postgres)}/tollgate?sslmode=verify-full`,
      REDIS_URL: `rediss://${hostOf(server)}`,
      SMTP_URL: `smtps://${hostOf(server)}`,
    });
    const [database] = (await checkDatabase(config)).findings;
    expect(database).toMatchObject({
      state: "broken",
      detail: expect.stringContaining("self-signed certificate"),
      remedy: expect.stringMatching(/^Add sslrootcert=/),
    });
    // Waiting does not change it.
    const { failure, onWaiting } = await connect(hostOf(postgres));
    expect(onWaiting).not.toHaveBeenCalled();
    expect(startFailure(failure, "DATABASE_URL")).toMatch(
      /^DATABASE_URL: PostgreSQL's certificate is not trusted: self-signed certificate.*\. Add sslrootcert=/,
    );
    for (const finding of [await checkRedis(config), await checkMail(config)]) {
      expect(finding).toMatchObject({
        state: "broken",
        detail: expect.stringMatching(/self-signed certificate|SELF_SIGNED_CERT/),
        remedy: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
      });
    }
  });
});
