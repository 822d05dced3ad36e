import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { Variables } from "../../../src/config/variables.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(resolve(PROJECT, path), "utf8");
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
