import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { Variables } from "../../../src/config/variables.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { sendRequest, startHttpServer } from "../../support/http.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(resolve(PROJECT, path), "utf8");
const SYSTEMD_ANALYZE = "/usr/bin/systemd-analyze";
const NGINX = "/usr/sbin/nginx";
const { dependencies } = JSON.parse(read("package.json"));

describe("Containerfile", () => {
  const lines = read("Containerfile").split("\n");
  const lastStage = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));

  it("has no lint findings", () => {
    expect(validate(lines.join("\n"))).toEqual([]);
    expect(validate("FROM debian\nRUM true\n")).not.toEqual([]);
  });

  it("runs the pinned Node in every stage", () => {
    const images = lines.filter((line) => line.startsWith("FROM ")).map((line) => line.split(" ")[1]);
    expect(new Set(images)).toEqual(new Set([`node:${dependencies.node}-bookworm-slim`]));
  });

  it("runs as a user without privileges, with a health check", () => {
    expect(lastStage).toContain("USER node");
    expect(lastStage.some((line) => line.startsWith("HEALTHCHECK "))).toBe(true);
    expect(lastStage.findIndex((line) => line.startsWith("RUN"))).toBeLessThan(
      lastStage.indexOf("USER node"),
    );
  });

  it("starts files that exist and are not excluded from the image", () => {
    const excluded = read(".dockerignore").trim().split("\n");
    const started = ["src/server.ts", "script/health-check.ts"];
    for (const path of started) {
      expect(lastStage.join("\n")).toContain(path);
      expect(existsSync(resolve(PROJECT, path))).toBe(true);
      expect(excluded).not.toContain(path.split("/")[0]);
    }
  });
});

describe("compose.yml", () => {
  const { services } = parse(read("compose.yml"));

  it("sets variables that the server knows", () => {
    const known = new Set(Object.keys(Variables.shape));
    expect(Object.keys(services.tollgate.environment).filter((name) => !known.has(name))).toEqual([]);
  });

  it("contains no secret of its own", () => {
    const values = Object.values<{ environment?: Record<string, string> }>(services).flatMap(
      ({ environment }) => Object.entries(environment ?? {}),
    );
    const secret = values.filter(([name]) => /SECRET|PASSWORD|KEY|TOKEN/.test(name));
    expect(secret.length).toBeGreaterThan(5);
    for (const [name, value] of secret)
      expect([name, value]).toEqual([name, expect.stringMatching(/^\$\{\w+:[-?]/)]);
  });

  it("starts the server with a read-only root once PostgreSQL and Redis are healthy", () => {
    expect(services.tollgate).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
    for (const name of Object.keys(services.tollgate.depends_on)) {
      expect(services.tollgate.depends_on[name].condition).toBe("service_healthy");
      expect(services[name].healthcheck.test[0]).toBe("CMD");
    }
  });

  it("publishes no port beyond this machine", () => {
    const ports = Object.values<{ ports?: string[] }>(services).flatMap((service) => service.ports ?? []);
    expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
  });
});

/** Of the Compose specification; Compose refuses every other key. */
const SERVICE_KEYS = [
  ...["build", "image", "command", "environment", "ports", "volumes", "read_only", "tmpfs", "cap_drop"],
  ...["security_opt", "stop_grace_period", "restart", "depends_on", "healthcheck"],
];
const DURATION = /^(\d+(us|ms|s|m|h))+$/;

describe("compose.yml, checked against the Compose specification,", () => {
  const compose = parse(read("compose.yml"), { strict: true, uniqueKeys: true });
  const services = Object.entries<Record<string, unknown>>(compose.services);

  it("has only keys of the specification", () => {
    expect(Object.keys(compose)).toEqual(["services", "volumes"]);
    for (const [name, service] of services) {
      expect([name, Object.keys(service).filter((key) => !SERVICE_KEYS.includes(key))]).toEqual([name, []]);
      expect([name, "image" in service !== "build" in service]).toEqual([name, true]);
    }
  });

  it("pins every image to a major version", () => {
    const images = services.flatMap(([, { image }]) => (image === undefined ? [] : [String(image)]));
    expect(images.filter((image) => !/^[\w./-]+:\d[\w.-]*$/.test(image))).toEqual([]);
  });

  it("gives durations with a unit, and environments as text", () => {
    for (const [name, { healthcheck, stop_grace_period, environment }] of services) {
      const { interval, timeout } = (healthcheck ?? {}) as Record<string, unknown>;
      for (const duration of [interval, timeout, stop_grace_period]) {
        if (duration !== undefined) expect([name, duration]).toEqual([name, expect.stringMatching(DURATION)]);
      }
      const values = Object.values((environment ?? {}) as object);
      expect([
        name,
        values.filter((value) => typeof value !== "string" && typeof value !== "number"),
      ]).toEqual([name, []]);
    }
  });

  it("declares every named volume that it mounts, and no other", () => {
    const mounted = services.flatMap(([, { volumes }]) =>
      ((volumes ?? []) as string[]).map((volume) => volume.split(":")[0]),
    );
    expect(mounted.sort()).toEqual(Object.keys(compose.volumes).sort());
  });

  it("starts only services that exist before the server", () => {
    const names = services.map(([name]) => name);
    const needed = services.flatMap(([, { depends_on }]) => Object.keys((depends_on ?? {}) as object));
    expect(needed.filter((name) => !names.includes(name))).toEqual([]);
  });
});

describe("the systemd unit", () => {
  it.skipIf(!existsSync(SYSTEMD_ANALYZE))("passes systemd-analyze verify", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tollgate-unit-"));
    try {
      const unit = join(folder, "tollgate.service");
      // Its programs are checked too: here the project is not in /opt, and need not be readable for others.
      await writeFile(unit, read("deploy/systemd/tollgate.service").replaceAll("/opt/tollgate", PROJECT));
      const { stderr } = await promisify(execFile)(SYSTEMD_ANALYZE, ["verify", "--man=no", unit]);
      const ofUnit = stderr.split("\n").filter((line) => line.includes("tollgate.service"));
      expect(ofUnit).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("the nginx configuration", () => {
  it.skipIf(!existsSync(NGINX))("passes nginx -t, and terminates TLS in front of a server", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tollgate-nginx-"));
    const seen: IncomingHttpHeaders[] = [];
    const upstream = await startHttpServer((incoming, outgoing) => {
      seen.push(incoming.headers);
      outgoing.end("served");
    });
    try {
      const [httpPort, httpsPort] = [await freePort(), await freePort()];
      const key = join(folder, "key.pem");
      const certificate = join(folder, "certificate.pem");
      await promisify(execFile)("openssl", [
        ...[
          "req",
          "-x509",
          "-newkey",
          "rsa:2048",
          "-nodes",
          "-days",
          "1",
          "-subj",
          "/CN=billing.example.com",
        ],
        ...["-keyout", key, "-out", certificate],
      ]);
      const site = read("deploy/nginx/tollgate.conf")
        .replace("server 127.0.0.1:3000;", `server ${new URL(upstream.url).host};`)
        .replace("listen 80;", `listen 127.0.0.1:${httpPort};`)
        .replace("listen 443 ssl;", `listen 127.0.0.1:${httpsPort} ssl;`)
        .replace("/etc/ssl/certs/billing.example.com.pem", certificate)
        .replace("/etc/ssl/private/billing.example.com.key", key);
      const main = join(folder, "nginx.conf");
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
        .join(" ");
      await writeFile(
        main,
        `daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${temporary}\n${site}\n}`,
      );
      const args = ["-e", "stderr", "-p", folder, "-c", main];
      await promisify(execFile)(NGINX, ["-t", ...args]);
      const nginx = spawn(NGINX, args, { stdio: "ignore" });
      const stop = cleanedUp(async () => {
        nginx.kill("SIGQUIT");
        if (nginx.exitCode === null && nginx.signalCode === null) await once(nginx, "exit");
      });
      const secure = (path: string, headers: Record<string, string> = {}) =>
        new Promise<string>((resolves, rejects) => {
          const options = { port: httpsPort, host: "127.0.0.1", path, headers, rejectUnauthorized: false };
          get(options, async (response) => resolves(await text(response))).on("error", rejects);
        });
      await eventually(() => secure("/").catch(() => null), "served");
      await secure("/api/events/stream", { "x-forwarded-for": "203.0.113.9", host: "billing.example.com" });
      expect(seen.at(-1)).toMatchObject({
        host: "billing.example.com",
        "x-forwarded-for": "127.0.0.1",
        "x-forwarded-proto": "https",
      });
      const plain = await sendRequest(`http://127.0.0.1:${httpPort}`, "GET", "/billing", {
        headers: { host: "billing.example.com" },
      });
      expect([plain.status, plain.headers.get("location")]).toEqual([
        308,
        "https://billing.example.com/billing",
      ]);
      await stop();
    } finally {
      await upstream.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("deploy/", () => {
  it("gives the drain more time than it takes before a kill", () => {
    const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(read("deploy/systemd/tollgate.service"))?.[1]);
    expect(seconds).toBeGreaterThan(10);
    expect(
      Number.parseInt(parse(read("compose.yml")).services.tollgate.stop_grace_period, 10),
    ).toBeGreaterThan(10);
  });

  it("overwrites the forwarded address at the proxy instead of appending to it", () => {
    const proxy = read("deploy/nginx/tollgate.conf");
    expect(proxy).not.toContain("$proxy_add_x_forwarded_for");
    expect(proxy.match(/X-Forwarded-For \$remote_addr;/g)).toHaveLength(3);
  });
});
