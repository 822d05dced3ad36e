import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { get } from "node:https";
import { join, matchesGlob, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { Variables } from "../../../src/config/variables.ts";
import { STOP_WITHIN_MS } from "../../../src/runtime/stop-on-signal.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { sendRequest, startHttpServer } from "../../support/http.ts";
import { findProgram } from "../../support/installed-programs.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(resolve(PROJECT, path), "utf8");
const SYSTEMD_ANALYZE = "/usr/bin/systemd-analyze";
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

describe("files with secrets or people's data that the guides write into the project's folder", () => {
  const written = [
    ...[...read("docs/how-to/deploy.md").matchAll(/^cat >(\S+)/gm)],
    ...[...read("docs/how-to/back-up-and-restore.md").matchAll(/(?:--file=| >|--pgdata=)([\w.-]+)/g)],
    ...[...read("README.md").matchAll(/curl -c (\S+)/g)],
  ].map(([, path]) => path as string);
  const names = new Set([".data", ...written]);

  it.each([".gitignore", ".dockerignore"])("are left out by %s", (file) => {
    expect([...names].sort()).toEqual([".data", ".env", "base-backup", "cookies", "tollgate.dump"]);
    const patterns = read(file)
      .trim()
      .split("\n")
      .map((pattern) => pattern.replaceAll(/^\/|\/$/g, ""));
    expect([...names].filter((name) => !patterns.some((pattern) => matchesGlob(name, pattern)))).toEqual([]);
  });
});

describe("compose.yml", () => {
  const { services } = parse(read("compose.yml"));

  it("sets variables that the server knows", () => {
    const known = new Set(Object.keys(Variables.shape));
    expect(Object.keys(services.tollgate.environment).filter((name) => !known.has(name))).toEqual([]);
  });

  it("passes every other variable of .env to the server, but not those that the image depends on", () => {
    expect(services.tollgate.env_file).toEqual([{ path: ".env", required: false }]);
    const fixed = { NODE_ENV: "production", HOST: "0.0.0.0", PORT: "3000", DATA_DIR: "/data" };
    expect(services.tollgate.environment).toMatchObject(fixed);
    // Set here, an empty default would hide the value in .env.
    const defaults = Object.values<string>(services.tollgate.environment);
    expect(defaults.filter((value) => value.includes(":-}"))).toEqual([]);
  });

  it("contains no secret of its own", () => {
    const values = Object.values<{ environment?: Record<string, string> }>(services).flatMap(
      ({ environment }) => Object.entries(environment ?? {}),
    );
    const secret = values.filter(([name]) => /SECRET|PASSWORD|KEY|TOKEN/.test(name));
    expect(secret.length).toBeGreaterThan(1);
    for (const [name, value] of secret)
      expect([name, value]).toEqual([name, expect.stringMatching(/^\$\{\w+:[-?]/)]);
  });

  it("starts the server with a read-only root once PostgreSQL and Redis are healthy", () => {
    expect(services.tollgate).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
    for (const name of Object.keys(services.tollgate.depends_on)) {
      expect(services.tollgate.depends_on[name].condition).toBe("service_healthy");
      expect(services[name].healthcheck.test[0]).toBe("CMD");
    }
    // Not by its socket, on which a temporary server listens while the image creates the database.
    expect(services.postgres.healthcheck.test).toContain("--host=127.0.0.1");
  });

  it("publishes no port beyond this machine", () => {
    const ports = Object.values<{ ports?: string[] }>(services).flatMap((service) => service.ports ?? []);
    expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
  });
});

/** Of the Compose specification; Compose refuses every other key. */
const SERVICE_KEYS = [
  ...["build", "image", "command", "environment", "ports", "volumes", "read_only", "tmpfs", "cap_drop"],
  ...["env_file", "security_opt", "stop_grace_period", "restart", "depends_on", "healthcheck"],
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
    const folder = await temporaryFolder();
    const unit = join(folder, "tollgate.service");
    // Its programs are checked too: here the project is not in /opt, and need not be readable for others.
    await writeFile(unit, read("deploy/systemd/tollgate.service").replaceAll("/opt/tollgate", PROJECT));
    const { stderr } = await promisify(execFile)(SYSTEMD_ANALYZE, ["verify", "--man=no", unit]);
    const ofUnit = stderr.split("\n").filter((line) => line.includes("tollgate.service"));
    expect(ofUnit).toEqual([]);
  });

  it("lets systemd start the server again, however often it has failed", () => {
    // By default five starts within ten seconds are the last.
    const [, ofUnit = ""] = /^\[Unit\]\n([^[]*)/m.exec(read("deploy/systemd/tollgate.service")) ?? [];
    expect(ofUnit).toMatch(/^StartLimitIntervalSec=0$/m);
  });
});

type Ports = { http: number; https: number; upstream: string };

type Proxy = {
  program: string | null;
  /**
   * Writes the example's configuration for this test into a folder, and returns the arguments to check and to
   * run it.
   */
  configure(folder: string, ports: Ports): Promise<{ check: string[]; run: string[] }>;
};

/** As nginx writes one unless told otherwise; Caddy writes none. */
const ACCESS_LOG = "access.log";

const NGINX: Proxy = {
  program: findProgram("nginx"),
  configure: async (folder, ports) => {
    const site = read("deploy/nginx/tollgate.conf")
      .replace("server 127.0.0.1:3000;", `server ${ports.upstream};`)
      .replace("listen 80;", `listen 127.0.0.1:${ports.http};`)
      .replace("listen 443 ssl;", `listen 127.0.0.1:${ports.https} ssl;`)
      .replace("/etc/ssl/certs/billing.example.com.pem", join(folder, "certificate.pem"))
      .replace("/etc/ssl/private/billing.example.com.key", join(folder, "key.pem"));
    const main = join(folder, "nginx.conf");
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
      .join(" ");
    await writeFile(
      main,
      `daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log ${join(folder, ACCESS_LOG)}; ${temporary}\n${site}\n}`,
    );
    const run = ["-e", "stderr", "-p", folder, "-c", main];
    return { check: ["-t", ...run], run };
  },
};

const CADDY: Proxy = {
  program: findProgram("caddy"),
  configure: async (folder, ports) => {
    const certificate = `tls ${join(folder, "certificate.pem")} ${join(folder, "key.pem")}`;
    const local = `admin off\n\thttp_port ${ports.http}\n\thttps_port ${ports.https}\n\tdefault_bind 127.0.0.1`;
    const main = join(folder, "Caddyfile");
    await writeFile(
      main,
      read("deploy/caddy/Caddyfile")
        .replace("reverse_proxy 127.0.0.1:3000", `reverse_proxy ${ports.upstream}`)
        .replace("{\n\tservers", `{\n\t${local}\n\tservers`)
        .replace("billing.example.com {\n", `billing.example.com {\n\t${certificate}\n`),
    );
    const run = ["--config", main, "--adapter", "caddyfile"];
    return { check: ["validate", ...run], run: ["run", ...run] };
  },
};

describe.each([
  ["nginx", NGINX],
  ["caddy", CADDY],
])("the configuration of %s", (_, { program, configure }) => {
  it.skipIf(program === null)("is valid, and terminates TLS in front of a server", async () => {
    const folder = await temporaryFolder();
    const forwarded: IncomingHttpHeaders[] = [];
    const upstream = await startHttpServer((incoming, outgoing) => {
      forwarded.push(incoming.headers);
      outgoing.end("served");
    });
    try {
      await createCertificate(folder);
      const ports = {
        http: await freePort(),
        https: await freePort(),
        upstream: new URL(upstream.url).host,
      };
      const { check, run } = await configure(folder, ports);
      const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
      await promisify(execFile)(program as string, check, { env });
      const proxy = spawn(program as string, run, { stdio: "ignore", env });
      const stop = cleanedUp(async () => {
        proxy.kill("SIGTERM");
        if (proxy.exitCode === null && proxy.signalCode === null) await once(proxy, "exit");
      });
      const host = "billing.example.com";
      const secure = (path: string, headers: Record<string, string> = {}) =>
        new Promise<string>((resolves, rejects) => {
          const options = {
            port: ports.https,
            host: "127.0.0.1",
            servername: host,
            rejectUnauthorized: false,
            path,
            headers: { host, ...headers },
          };
          get(options, async (response) => resolves(await text(response))).on("error", rejects);
        });
      await eventually(() => secure("/").catch(() => null), "served");
      await secure("/api/events/stream", { "x-forwarded-for": "203.0.113.9" });
      expect(forwarded.at(-1)).toMatchObject({
        host,
        "x-forwarded-for": "127.0.0.1",
        "x-forwarded-proto": "https",
      });
      const plain = await sendRequest(`http://127.0.0.1:${ports.http}`, "GET", "/billing", {
        headers: { host },
      });
      expect([plain.status, plain.headers.get("location")]).toEqual([308, expect.stringMatching(TO_HTTPS)]);
      await stop();
    } finally {
      await upstream.close();
    }
  });
});

describe.each([
  ["nginx", NGINX],
  ["caddy", CADDY],
])("the log of %s", (_, { program, configure }) => {
  it.skipIf(program === null)("has no secret of a link, also when no server answers", async () => {
    const folder = await temporaryFolder();
    await createCertificate(folder);
    const ports = {
      http: await freePort(),
      https: await freePort(),
      upstream: `127.0.0.1:${await freePort()}`,
    };
    const { run } = await configure(folder, ports);
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const proxy = spawn(program as string, run, { stdio: ["ignore", "pipe", "pipe"], env });
    const output = Promise.all([text(proxy.stdout), text(proxy.stderr)]);
    cleanedUp(async () => proxy.kill("SIGKILL"));
    const host = "billing.example.com";
    const statusOf = (path: string) =>
      new Promise<number | undefined>((resolves) => {
        const options = { port: ports.https, host: "127.0.0.1", servername: host, rejectUnauthorized: false };
        get({ ...options, path, headers: { host } }, (response) => {
          response.resume();
          resolves(response.statusCode);
        }).on("error", () => resolves(undefined));
      });
    await eventually(() => statusOf("/api/plans"), 502);
    for (const path of SECRET_PATHS) expect(await statusOf(path)).toBe(502);
    proxy.kill("SIGTERM");
    const accessLog = await readFile(join(folder, ACCESS_LOG), "utf8").catch(() => "");
    const logged = (await output).join("") + accessLog;
    expect(logged).toContain("/api/plans");
    expect(logged).not.toContain("hidden");
  });
});

/** A calendar's, and where the links of mails lead: each is as good as a password. */
const SECRET_PATHS = [
  "/api/v1/plugins/renewals/links/tgl_hidden/calendar.ics",
  ...["/api/auth/reset-password/hidden?callbackURL=%2Freset-password", "/reset-password?token=hidden"],
  ...["/api/v2/auth/verify-email?token=hidden&callbackURL=%2F", "/verify-email?token=hidden&callbackURL=%2F"],
  "/confirm-email-change?token=hidden",
];

/** Caddy adds a port that is not 443. */
const TO_HTTPS = /^https:\/\/billing\.example\.com(:\d+)?\/billing$/;

async function createCertificate(folder: string): Promise<void> {
  await promisify(execFile)("openssl", [
    ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=billing.example.com"],
    ...["-keyout", join(folder, "key.pem"), "-out", join(folder, "certificate.pem")],
  ]);
}

describe("deploy/", () => {
  it("gives a stopping server more time than it takes before a kill", () => {
    const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(read("deploy/systemd/tollgate.service"))?.[1]);
    expect(seconds * 1_000).toBeGreaterThan(STOP_WITHIN_MS);
    const { stop_grace_period } = parse(read("compose.yml")).services.tollgate;
    expect(Number.parseInt(stop_grace_period, 10) * 1_000).toBeGreaterThan(STOP_WITHIN_MS);
  });

  it("documents a command that gets the variables of the systemd unit, read by systemd itself", () => {
    const unit = read("deploy/systemd/tollgate.service");
    const command = /`(systemd-run .+?)`/.exec(read("docs/how-to/deploy.md"))?.[1] ?? "";
    for (const setting of ["EnvironmentFile", "WorkingDirectory"])
      expect(command).toContain(`-p ${new RegExp(`^${setting}=.+$`, "m").exec(unit)?.[0]} `);
    const variables = /^Environment=(.+)$/m.exec(unit)?.[1]?.split(" ") ?? [];
    expect(variables.length).toBeGreaterThan(0);
    // Root must not run what the service can write.
    const isOfService = (variable: string) => variable.startsWith("NODE_COMPILE_CACHE=/var/cache/");
    for (const variable of variables)
      expect(command.includes(`-E ${variable} `)).toBe(!isOfService(variable));
  });

  it("overwrites the forwarded address at the proxy instead of appending to it", () => {
    const proxy = read("deploy/nginx/tollgate.conf");
    expect(proxy).not.toContain("$proxy_add_x_forwarded_for");
    expect(proxy.match(/X-Forwarded-For \$remote_addr;/g)).toHaveLength(3);
    expect(read("deploy/caddy/Caddyfile")).not.toMatch(/^\s*trusted_proxies/m);
  });

  it("keeps every address with a secret, and no other, out of proxies' logs", () => {
    const [, unlogged = ""] =
      /location ~ (\S+) \{\s*access_log off;/.exec(read("deploy/nginx/tollgate.conf")) ?? [];
    const isUnlogged = (path: string) => new RegExp(unlogged).test(path.split("?")[0] as string);
    const [, pattern = "", mask = ""] = /regexp (\S+) (\S+)/.exec(read("deploy/caddy/Caddyfile")) ?? [];
    const logged = (path: string) => path.replaceAll(new RegExp(pattern, "g"), mask);
    expect(SECRET_PATHS.filter((path) => !isUnlogged(path) || logged(path).includes("hidden"))).toEqual([]);
    const others = [
      "/",
      "/sign-in?next=%2F",
      "/api/plans",
      "/api/auth/reset-password",
      "/forgotten-password",
    ];
    expect(others.filter((path) => isUnlogged(path) || logged(path) !== path)).toEqual([]);
  });
});
