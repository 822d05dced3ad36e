import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { BadEnvironment, readEnvironment, requireAuthSecret } from "../../src/env.ts";

describe("the environment", () => {
  it("has a default for everything", () => {
    expect(readEnvironment({})).toMatchObject({
      host: "127.0.0.1",
      port: 3000,
      dataDir: ".data",
      databaseUrl: null,
      preparedStatements: true,
      appUrl: "http://localhost:3000",
      authSecret: null,
      slots: {
        "provider-a": { format: "stripe", secrets: null },
        "provider-b": { format: "paddle", secrets: null },
        "provider-c": { format: "polar", secrets: null },
      },
      webhook: { toleranceSeconds: 300, leaseSeconds: 30, maxBytes: 1_048_576 },
    });
  });

  it("takes several secrets, without the white space round them", () => {
    const { slots } = readEnvironment({ PROVIDER_B_WEBHOOK_SECRET: " new ,\told\n" });
    expect(slots["provider-b"].secrets).toEqual(["new", "old"]);
  });

  it.each([
    ["PORT", "eighty", "3000"],
    ["PORT", "70000", "3000"],
    ["PORT", "-1", "3000"],
    ["PORT", "3e3", "3000"],
    ["HOST", "a b", "127.0.0.1"],
    ["DATABASE_URL", "mysql://localhost/x", "postgres://"],
    ["DATABASE_URL", "localhost", "postgres://"],
    ["DATABASE_PREPARED", "yes", "on"],
    ["APP_URL", "example.com", "https://"],
    ["AUTH_SECRET", "short", "openssl rand"],
    ["LOG_LEVEL", "loud", "info"],
    ["PROVIDER_A_WEBHOOK_SECRET", "a,,b", "whsec_new,whsec_old"],
    ["PROVIDER_B_ADAPTER", "square", "stripe"],
    ["WEBHOOK_TOLERANCE_SECONDS", "0", "300"],
    ["WEBHOOK_LEASE_SECONDS", "1.5", "30"],
    ["WEBHOOK_MAX_BYTES", "1MB", "1048576"],
  ])("refuses %s=%s in one line that names it and shows an example", (name, value, example) => {
    const refused = () => readEnvironment({ [name]: value });
    expect(refused).toThrow(BadEnvironment);
    expect(refused).toThrow(new RegExp(`^${name}: .+`));
    expect(refused).toThrow(example);
    expect(() => readEnvironment({ [name]: value })).not.toThrow(/\n/);
  });

  it("does not print a secret that it refuses", () => {
    expect(() => readEnvironment({ PROVIDER_A_WEBHOOK_SECRET: "whsec_very_secret,," })).not.toThrow(
      /very_secret/,
    );
  });

  it("names every bad variable at once, a line each", () => {
    const refused = () => readEnvironment({ PORT: "x", WEBHOOK_MAX_BYTES: "y" });
    expect(refused).toThrow(/^PORT: .+\nWEBHOOK_MAX_BYTES: .+$/);
  });

  it("asks for AUTH_SECRET on a database that is not its own", () => {
    expect(() => requireAuthSecret(readEnvironment({}))).not.toThrow();
    const own = readEnvironment({ DATABASE_URL: "postgres://localhost/x" });
    expect(() => requireAuthSecret(own)).toThrow(/^AUTH_SECRET: required/);
  });

  it("stops the start with exit status 1 and the line on stderr", () => {
    const started = spawnSync(process.execPath, ["src/server.ts"], {
      env: { PATH: process.env.PATH, PORT: "nope" },
      encoding: "utf8",
    });
    expect(started.status).toBe(1);
    expect(started.stderr).toBe("PORT: expected a whole number, e.g. 3000\n");
    expect(started.stdout).toBe("");
  });
});
