import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { outboundAllow } from "../../src/outbound/allowed-targets.ts";
import { openEndpointConnections } from "../../src/outbound/endpoint-connections.ts";
import { type PostOptions, postEvent } from "../../src/outbound/post-event.ts";
import { newEndpointSecret } from "../../src/outbound/sign.ts";
import { describeWith, findProgram } from "../support/installed-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const OPENSSL = { openssl: findProgram("openssl") };

describeWith("an endpoint over https", OPENSSL, ({ openssl }) => {
  const trusted = getCACertificates("default");
  const received: { method: string | undefined; socket: TLSSocket }[] = [];
  let server: Server;
  let certificate: string;
  beforeAll(async () => {
    const folder = await temporaryFolder();
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    await promisify(execFile)(openssl, [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
      ...[
        "-subj",
        "/CN=hooks.test",
        "-addext",
        "subjectAltName=DNS:hooks.test",
        "-keyout",
        key,
        "-out",
        cert,
      ],
    ]);
    certificate = await readFile(cert, "utf8");
    server = createServer({ key: await readFile(key), cert: certificate }, (incoming, response) => {
      received.push({ method: incoming.method, socket: incoming.socket as TLSSocket });
      response.writeHead(204).end();
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  });
  afterAll(() => {
    setDefaultCACertificates(trusted);
    server.close();
    server.closeAllConnections();
  });

  const post = (host: string, options: Partial<PostOptions> = {}) =>
    postEvent(
      {
        url: `https://${host}:${(server.address() as AddressInfo).port}/hook`,
        secrets: [newEndpointSecret()],
      },
      { id: "evt_1", body: "{}" },
      {
        allow: outboundAllow({ hosts: [], ranges: ["127.0.0.0/8"] }),
        now: Date.now,
        resolve: async () => [{ address: "127.0.0.1", family: 4 }],
        ...options,
      },
    );

  const trustCertificate = () => setDefaultCACertificates([...trusted, certificate]);

  it("gets no event while its certificate is not trusted", async () => {
    expect(await post("hooks.test")).toMatchObject({
      isDelivered: false,
      responseStatus: null,
      error: expect.stringContaining("self-signed certificate"),
    });
    expect(received).toEqual([]);
  });

  it("gets events on one connection, at the name that its certificate has and at no other", async () => {
    trustCertificate();
    received.length = 0;
    const connections = openEndpointConnections();
    for (let n = 0; n < 2; n += 1)
      expect(await post("hooks.test", { connections })).toMatchObject({ isDelivered: true, error: null });
    expect(await post("other.test", { connections })).toMatchObject({
      isDelivered: false,
      error: expect.stringContaining("does not match certificate's altnames"),
    });
    connections.close();
    const [first, second] = received;
    expect(received).toHaveLength(2);
    expect(first?.method).toBe("POST");
    expect(first?.socket.servername).toBe("hooks.test");
    expect(second?.socket).toBe(first?.socket);
  });

  it("gets events on no connection to another address that its name had", async () => {
    trustCertificate();
    const connections = openEndpointConnections();
    expect(await post("hooks.test", { connections })).toMatchObject({ isDelivered: true });
    received.length = 0;
    const elsewhere = async () => [{ address: "127.0.0.2", family: 4 as const }];
    expect(await post("hooks.test", { connections, resolve: elsewhere })).toMatchObject({
      isDelivered: false,
      error: expect.stringMatching(/^connect ECONNREFUSED 127\.0\.0\.2:/),
    });
    expect(received).toEqual([]);
    connections.close();
  });
});
