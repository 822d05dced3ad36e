import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readConfig, requireAuthSecret } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/config-error.ts";
import { Variables } from "../../src/config/variables.ts";
import { checkLimit } from "../../src/limits/check-request.ts";

describe("the configuration", () => {
  it("has a default for everything", () => {
    expect(readConfig({})).toMatchObject({
      host: "127.0.0.1",
      port: 3000,
      dataDir: ".data",
      databaseUrl: null,
      preparedStatements: true,
      appUrl: "http://localhost:3000",
      corsOrigins: [],
      returnOrigins: ["http://localhost:3000"],
      authSecret: null,
      slots: {
        "provider-a": { format: "stripe", secrets: null, apiKey: null, apiUrl: null },
        "provider-b": { format: "paddle", secrets: null },
        "provider-c": { format: "polar", secrets: null },
      },
      activeProvider: "provider-a",
      simulator: { port: 3001 },
      reconcile: { everySeconds: 60 },
      selfHeal: true,
      webhook: { toleranceSeconds: 300, leaseSeconds: 30, maxBytes: 1_048_576 },
      redisUrls: null,
      trustedProxies: { hops: 0 },
      metricsToken: null,
      mail: { smtpUrl: null, requireConfirmation: false },
      chat: null,
      deprecationFormat: "simple",
    });
  });

  it("has the contract's limits, each set by its own variable", () => {
    expect(readConfig({}).rateLimits).toEqual({
      "auth-sign-in": { limit: 10, windowSeconds: 60 },
      "auth-sign-up": { limit: 5, windowSeconds: 60 },
      "auth-password": { limit: 3, windowSeconds: 60 },
      "auth-session": { limit: 30, windowSeconds: 60 },
      "auth-key": { limit: 30, windowSeconds: 60 },
      pages: { limit: 300, windowSeconds: 60 },
      "ai-chat": { limit: 30, windowSeconds: 60 },
      "ai-chat-day": { limit: 500, windowSeconds: 86_400 },
      billing: { limit: 5, windowSeconds: 60 },
      admin: { limit: 10, windowSeconds: 60 },
      graphql: { limit: 60, windowSeconds: 60 },
      plugin: { limit: 30, windowSeconds: 60 },
      api: { limit: 30, windowSeconds: 60 },
      settings: { limit: 10, windowSeconds: 60 },
      rpc: { limit: 60, windowSeconds: 60 },
    });
    const scopes = Object.keys(readConfig({}).rateLimits);
    for (const [n, scope] of scopes.entries()) {
      const name = `RATE_LIMIT_${scope.toUpperCase().replaceAll("-", "_")}`;
      const { rateLimits } = readConfig({ [name]: `${n + 100}/${n + 7}` });
      expect(rateLimits).toEqual({
        ...readConfig({}).rateLimits,
        [scope]: { limit: n + 100, windowSeconds: n + 7 },
      });
      for (const wrong of [
        "30",
        "30/0",
        "0/60",
        "-1/60",
        "30/60/1",
        "1.5/60",
        "30 / 60",
        "a/b",
        "30/1e3",
        "1000001/60",
        "30/100000",
      ]) {
        expect(() => readConfig({ [name]: wrong })).toThrow(
          `${name}: expected limit/windowSeconds, at most 1000000/99999, e.g. 30/60`,
        );
      }
    }
    const { rateLimits } = readConfig({ RATE_LIMIT_API: "1000000/99999" });
    expect(rateLimits.api).toEqual({ limit: 1_000_000, windowSeconds: 99_999 });
    expect(() => checkLimit(rateLimits.api)).not.toThrow();
  });

  it("accepts a limit of a few hundred bytes for webhooks", () => {
    expect(readConfig({ WEBHOOK_MAX_BYTES: "500" }).webhook.maxBytes).toBe(500);
    // Megabytes, by mistake: every delivery would be refused.
    expect(() => readConfig({ WEBHOOK_MAX_BYTES: "1" })).toThrow("expected a number from 100 to 67108864");
  });

  it("accepts proxies as a count or ranges, and Redis as one node or a cluster", () => {
    const proxies = (text: string) => readConfig({ TRUSTED_PROXIES: text }).trustedProxies;
    expect(proxies("2")).toEqual({ hops: 2 });
    expect(proxies("10.0.0.0/8, fd00::/8,192.0.2.1")).toEqual({
      ranges: ["10.0.0.0/8", "fd00::/8", "192.0.2.1"],
    });
    const { redisUrls } = readConfig({ REDIS_URL: "redis://a:6379, rediss://b:6380" });
    expect(redisUrls).toEqual(["redis://a:6379", "rediss://b:6380"]);
  });

  it("takes the hosts that events may reach in any case", () => {
    const { outboundAllow } = readConfig({ OUTBOUND_ALLOW: "Hooks.Internal:8080, 10.0.0.0/8" });
    expect(outboundAllow).toEqual({ hosts: ["hooks.internal:8080"], ranges: ["10.0.0.0/8"] });
  });

  it("requires a model with the assistant's URL, and SMTP with email confirmation", () => {
    expect(readConfig({ AI_BASE_URL: "http://localhost:11434/v1", AI_MODEL: "m" }).chat).toEqual({
      baseUrl: "http://localhost:11434/v1",
      apiKey: null,
      model: "m",
      maxOutputTokens: 4_096,
    });
    expect(() => readConfig({ AI_BASE_URL: "http://localhost:11434/v1" })).toThrow(/^AI_MODEL: required/);
    expect(() => readConfig({ REQUIRE_EMAIL_CONFIRMATION: "on" })).toThrow(/^SMTP_URL: required/);
    expect(
      readConfig({ REQUIRE_EMAIL_CONFIRMATION: "on", SMTP_URL: "smtp://localhost" }).mail.requireConfirmation,
    ).toBe(true);
  });

  it("prepares no statements for a pooler that cannot keep them", () => {
    expect(readConfig({ DATABASE_PREPARED: "off" }).preparedStatements).toBe(false);
  });

  it("accepts several secrets, trimmed", () => {
    const { slots } = readConfig({ PROVIDER_B_WEBHOOK_SECRET: " new ,\told\n" });
    expect(slots["provider-b"].secrets).toEqual(["new", "old"]);
  });

  it("accepts a key and a URL for each slot's provider", () => {
    const { slots, activeProvider } = readConfig({
      ACTIVE_PROVIDER: "provider-c",
      PROVIDER_A_API_KEY: " sk_test_1\n",
      PROVIDER_C_API_KEY: "polar_oat_1",
      PROVIDER_C_API_URL: "https://sandbox-api.polar.sh/",
    });
    expect(activeProvider).toBe("provider-c");
    expect(slots["provider-a"]).toMatchObject({ apiKey: "sk_test_1", apiUrl: null });
    expect(slots["provider-b"]).toMatchObject({ apiKey: null, apiUrl: null });
    expect(slots["provider-c"]).toMatchObject({
      apiKey: "polar_oat_1",
      apiUrl: "https://sandbox-api.polar.sh",
    });
    expect(() => readConfig({ PROVIDER_B_API_URL: "https://sandbox-api.paddle.com" })).toThrow(
      /^PROVIDER_B_API_KEY: required when PROVIDER_B_API_URL is set/,
    );
  });

  it("runs the simulator when nothing else is configured and only this machine can reach it", () => {
    const databaseUrl = "postgres://localhost/x";
    const simulator = (variables: Record<string, string>) => readConfig(variables).simulator;
    expect(simulator({})).toEqual({ port: 3001 });
    const production = { NODE_ENV: "production", EMBEDDED_IN_PRODUCTION: "on" };
    expect(simulator(production)).toBeNull();
    expect(simulator({ ...production, SIMULATOR: "on" })).toEqual({ port: 3001 });
    expect(simulator({ APP_URL: "https://app.example.com" })).toBeNull();
    expect(simulator({ APP_URL: "https://app.example.com", SIMULATOR: "on" })).toEqual({ port: 3001 });
    for (const local of ["http://127.0.0.1:3000", "http://[::1]:3000", "http://tollgate.localhost"]) {
      expect(simulator({ APP_URL: local })).toEqual({ port: 3001 });
    }
    for (const remote of ["http://127.example.com", "http://mylocalhost", "http://localhost.example.com"]) {
      expect(simulator({ APP_URL: remote })).toBeNull();
    }
    expect(simulator({ DATABASE_URL: databaseUrl })).toBeNull();
    expect(simulator({ PROVIDER_B_API_KEY: "pdl_1" })).toBeNull();
    expect(simulator({ SIMULATOR: "off" })).toBeNull();
    expect(simulator({ SIMULATOR: "on", DATABASE_URL: databaseUrl, SIMULATOR_PORT: "4000" })).toEqual({
      port: 4000,
    });
    expect(simulator({ SIMULATOR: "on", PROVIDER_A_API_KEY: "sk_1" })).toEqual({ port: 3001 });
    expect(() => simulator({ PORT: "3001" })).toThrow(/^SIMULATOR_PORT: is the same as PORT, e\.g\. 3002$/);
    expect(simulator({ PORT: "3001", SIMULATOR: "off" })).toBeNull();
  });

  it("takes values from a file with Windows line ends", () => {
    expect(
      readConfig({ PORT: "3100\r", GRAPHQL: "off\r", NODE_ENV: "test ", AUTH_SECRET: `${"a".repeat(32)}\r` }),
    ).toMatchObject({
      port: 3100,
      graphql: { enabled: false },
      authSecret: "a".repeat(32),
    });
  });

  it.each([
    ["PROVIDER_A_WEBHOOK_SECRET", '"whsec_1"'],
    ["PORT", "'3000'\r"],
  ])("refuses quotes around %s, which some programs keep", (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(
      `${name}: remove the quotes around it, e.g. ${name}=`,
    );
    expect(readConfig({ [`OTHER_${name}`]: value }).port).toBe(3000);
  });

  it("refuses a name with the byte order mark of its file, which is invisible", () => {
    expect(() => readConfig({ "\uFEFFDATABASE_URL": "postgres://localhost/tollgate" })).toThrow(
      /^DATABASE_URL: its name begins with a byte order mark/,
    );
  });

  it.each([
    ["AUTH_SECRET", "...            # openssl rand -base64 32"],
    ["NODE_ENV", "production # not staging"],
    ["PROVIDER_A_WEBHOOK_SECRET", "whsec_1\t#the endpoint's"],
  ])("refuses a comment after %s, which some programs keep", (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(
      `${name}: remove the comment after it, e.g. ${name}=value`,
    );
  });

  it.each([
    "redis://127.0.0.1:6379",
    "redis://127.0.0.1/",
    "rediss://user:p%25ss@127.0.0.1:6379/15",
    "redis://:p%2Fss@one:6379,redis://two",
    "redis://one:6379?ssl=false,redis://two?ssl_cert_reqs=None",
  ])("takes REDIS_URL=%s", (value) => {
    expect(readConfig({ REDIS_URL: value }).redisUrls).toEqual(value.split(","));
  });

  it.each([
    "no-reply@example.com",
    "<no-reply@localhost>",
    "Shop, Inc. <shop@example.com>",
    '"Shop, Inc." <shop@example.com>',
    "shop@example.com (Shop)",
  ])("takes MAIL_FROM=%s", (value) => {
    expect(readConfig({ MAIL_FROM: value }).mail.from).toBe(value);
  });

  it("takes what others add to the address of a Redis with TLS", () => {
    const url = "rediss://:password@localhost:6379?ssl_cert_reqs=none";
    expect(readConfig({ REDIS_URL: url }).redisUrls).toEqual([url]);
  });

  it.each([
    "smtp://mail.example.com",
    "smtp://ann:pass\\word@mail.example.com",
    "SMTP://[::1]:25/",
    "smtps://ann@example.com:p%2F%23%25+=@mail.example.com:465?tls.rejectUnauthorized=false",
  ])("takes %s for a mail server", (value) => {
    expect(readConfig({ SMTP_URL: value }).mail.smtpUrl).toBe(value);
  });

  it.each(["::", "::1", "0.0.0.0", "127.1", "localhost", "tollgate_1.internal"])("listens on %s", (host) => {
    expect(readConfig({ HOST: host }).host).toBe(host);
  });

  it("takes a number sign within a value", () => {
    const variables = { METRICS_TOKEN: "a#token of sixteen", MAIL_FROM: "Shop #1 <shop@example.com>" };
    const { metricsToken, mail } = readConfig(variables);
    expect([metricsToken, mail.from]).toEqual(Object.values(variables));
  });

  it.each([
    ["ACTIVE_PROVIDER", "stripe", "provider-a"],
    ["PROVIDER_A_API_KEY", "two words", "sk_test_"],
    ["PROVIDER_C_API_URL", "api.polar.sh", "https://"],
    ["PROVIDER_C_API_URL", "https://api.polar.sh?x=1", "https://"],
    ["SIMULATOR", "yes", "on"],
    ["SIMULATOR_PORT", "70000", "3001"],
    ["RECONCILE", "nightly", "on"],
    ["RECONCILE_EVERY_SECONDS", "0", "60"],
    ["SELF_HEAL", "yes", "on"],
    ["OUTBOUND_ALLOW", "https://example.com", "hooks.internal,10.0.0.0/8"],
    ["OUTBOUND_ALLOW", "10.0.0.0/33", "hooks.internal,10.0.0.0/8"],
    ["PORT", "eighty", "3000"],
    ["PORT", "70000", "3000"],
    ["PORT", "-1", "3000"],
    ["PORT", "3e3", "3000"],
    ["HOST", "a b", "127.0.0.1"],
    ["HOST", "999.1.1.1", "127.0.0.1"],
    ["HOST", "a..b", "127.0.0.1"],
    ["HOST", "1.2.3.4.", "127.0.0.1"],
    ["HOST", "fe80::1%eth0", "127.0.0.1"],
    ["HOST", "0.0.0.0:3000", "without a port"],
    ["DATABASE_URL", "mysql://localhost/x", "postgres://"],
    ["DATABASE_URL", "localhost", "postgres://"],
    ["DATABASE_URL", "postgres://one:5432,two:99999/x", "one:5432,two:5432"],
    ["DATABASE_URL", "postgres://one/x?target_session_attrs=standby", "postgres://"],
    ["DATABASE_URL", "postgres://me:p@ss#word@localhost/x", "%23 for #"],
    ["DATABASE_URL", "postgres://me@/x", "postgres://"],
    ["DATABASE_URL", "postgres://me@one/x?sslmode=verify-full&sslrootcert=/none/ca.pem", "sslrootcert="],
    ["DATABASE_URL", "postgres://me@one/x?sslmode=verify-full&sslcert=/none/me.pem", "sslcert="],
    ["DATABASE_URL", "postgres://me@one/x?sslmode=", "sslmode=verify-full"],
    ["DATABASE_URL", "postgres://me@one/x?sslmode=verify_full", "sslmode=verify-full"],
    ["DATABASE_URL", "postgres://me@one/x?sslMode=verify-full", "sslmode=verify-full"],
    ["DATABASE_URL", "postgres://me@one/x?connect_timeout=5&ssl-mode=REQUIRED", "sslmode=verify-full"],
    ["DATABASE_URL", "postgres://me@one/x?sslmod=require", "sslmode=verify-full"],
    ["DATABASE_URL", "postgres://me@one/x?sslmdoe=require", "sslmode=verify-full"],
    ["DATABASE_URL", "postgres://me@one/x?slmode=require", "sslmode=verify-full"],
    ["DATABASE_URL", "postgres://me@one/x?ssl=", "sslmode=verify-full"],
    ["DATABASE_URL", "postgres://me@one/x?ssl=require", "sslmode=verify-full"],
    ["DATABASE_URL", "postgres://me@one/x?SSL=true", "sslmode=verify-full"],
    ["DATABASE_URL", "postgres://me@one/x?tls=true", "sslmode=verify-full"],
    ["DATABASE_URL", "postgres://me@one/x?sslrootcert=", "sslrootcert="],
    ["DATABASE_URL", "postgres://me:caf%e9@localhost/x", "%25 for %"],
    ["DATABASE_URL", "postgres://me@/x?host=/run/postgresql&port=pg", "port=5432"],
    ["DATABASE_URL", "postgres://me@one/x?port=70000", "port=5432"],
    ["DATABASE_PREPARED", "yes", "on"],
    ["APP_URL", "example.com", "https://"],
    ["APP_URL", "https://me@app.example.com", "https://"],
    ["RETURN_ORIGINS", "https://a.example.com,b.example.com", "https://app.example.com"],
    ["RETURN_ORIGINS", "https://a.example.com/path", "https://app.example.com"],
    ["AUTH_SECRET", "short", "openssl rand"],
    ["LOG_LEVEL", "loud", "info"],
    ["PROVIDER_A_WEBHOOK_SECRET", "a,,b", "whsec_new,whsec_old"],
    ["PROVIDER_B_ADAPTER", "square", "stripe"],
    ["WEBHOOK_TOLERANCE_SECONDS", "0", "300"],
    ["WEBHOOK_LEASE_SECONDS", "1.5", "30"],
    ["WEBHOOK_MAX_BYTES", "1MB", "1048576"],
    ["RATE_LIMIT_API", "30 per minute", "30/60"],
    // No scope: the default of the one that is meant would stay in force.
    ["RATE_LIMIT_APIS", "30/60", "RATE_LIMIT_API=30/60"],
    ["RATE_LIMIT_MEMORY_KEYS", "0", "100000"],
    ["REDIS_URL", "localhost:6379", "redis://"],
    ["REDIS_URL", "redis://localhost:6379?tls=true", "rediss://"],
    ["REDIS_URL", "rediss://one:6379,redis://two:6379?ssl=true&db=1", "rediss://"],
    ["REDIS_URL", "redis://a,http://b", "redis://"],
    ["REDIS_URL", "redis://127.0.0.1:6379/foo", "redis://"],
    ["REDIS_URL", "redis://127.0.0.1:6379/0/", "redis://"],
    ["REDIS_URL", "redis://:100%@127.0.0.1:6379", "%25 for %"],
    ["REDIS_URL", "redis://pass#word@127.0.0.1:6379", "%23 for #"],
    ["MAIL_FROM", "nobody", "<no-reply@example.com>"],
    ["MAIL_FROM", "<>", "<no-reply@example.com>"],
    ["MAIL_FROM", "Shop <shop>", "<no-reply@example.com>"],
    ["MAIL_FROM", "a@example.com, b@example.com", "<no-reply@example.com>"],
    ["NODE_ENV", "Production", "production"],
    ["NODE_ENV", "prod", "production"],
    ["TRUSTED_PROXIES", "all", "10.0.0.0/8"],
    ["TRUSTED_PROXIES", "10.0.0.0/33", "10.0.0.0/8"],
    ["TRUSTED_PROXIES", "-1", "10.0.0.0/8"],
    ["TRUSTED_PROXIES", "10.0.0.0/8,", "10.0.0.0/8"],
    ["METRICS_TOKEN", "0123456789abcde", "openssl rand"],
    ["METRICS_TOKEN", "ein Schlüssel für Prometheus", "openssl rand"],
    ["CRON_SECRET", "0123456789abcde", "openssl rand"],
    ["SMTP_URL", "smtp:mail.example.com", "smtps://"],
    ["SMTP_URL", "smtp://mail%20server", "smtps://"],
    ["SMTP_URL", "smtp:///mail.example.com", "smtps://"],
    ["SMTP_URL", "smtps://me:pass/word@mail.example.com", "%2F for /"],
    ["SMTP_URL", "smtps://me:12/34@mail.example.com", "%2F for /"],
    ["SMTP_URL", "smtps://me:12#34@mail.example.com", "%23 for #"],
    ["SMTP_URL", "smtps://me:12?34@mail.example.com", "%3F for ?"],
    ["AI_BASE_URL", "https://user:password@api.example.com/v1", "https://"],
    ["AI_BASE_URL", "https://api.example.com/v1?api-version=1", "https://"],
    ["REDIS_URL", "redis:redis.internal:6379", "redis://"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", "http://localhost:4318"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://localhost:4317", "http://localhost:4318"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/protobuf"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "x-api-key", "x-api-key=secret"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=50%", "x-api-key=secret"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=%ff", "x-api-key=secret"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=%0A", "x-api-key=secret"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "x(api)key=secret", "x-api-key=secret"],
    ["OTEL_RESOURCE_ATTRIBUTES", "production", "deployment.environment.name=production"],
    ["OTEL_TRACES_SAMPLER", "sometimes", "parentbased_always_on"],
    ["OTEL_TRACES_SAMPLER_ARG", "10", "0.1"],
    ["OTEL_BSP_SCHEDULE_DELAY", "0", "5000"],
    ["SMTP_URL", "mail.example.com", "smtps://"],
    ["REQUIRE_EMAIL_CONFIRMATION", "yes", "off"],
    ["REQUIRE_ADMIN_2FA", "yes", "off"],
    ["CORS_ORIGINS", "*", "https://app.example.com"],
    ["CORS_ORIGINS", "app.example.com", "https://app.example.com"],
    ["CORS_ORIGINS", "https://a.example.com/path", "https://app.example.com"],
    ["CORS_ORIGINS", "https://a.example.com,,https://b.example.com", "https://app.example.com"],
    ["CORS_ORIGINS", "https://*.example.com", "https://app.example.com"],
    ["DELIVERY_RETENTION_DAYS", "6", "90"],
    ["AUDIT_RETENTION_DAYS", "7", "365"],
    ["AI_MAX_OUTPUT_TOKENS", "0", "4096"],
    ["AI_BASE_URL", "api.example.com", "https://"],
    ["DEPRECATION_FORMAT", "iso", "simple"],
  ])("refuses %s=%s in one line that names it and shows an example", (name, value, example) => {
    const refused = () => readConfig({ [name]: value });
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(new RegExp(`^${name}: .+`));
    expect(refused).toThrow(example);
    expect(() => readConfig({ [name]: value })).not.toThrow(/\n/);
  });

  it("shows an example in the error of every variable", () => {
    const values = [
      "?",
      "-1",
      "0",
      "a b",
      "a\0b",
      "x".repeat(5_000),
      "http://user:password@host",
      "1,,2",
      "1e9",
    ];
    let refused = 0;
    for (const name of Object.keys(Variables.shape)) {
      for (const value of values) {
        try {
          readConfig({ [name]: value });
        } catch (error) {
          refused += 1;
          expect((error as Error).message).toMatch(/^[A-Z0-9_]+: .*(e\.g\.|such as) [^ ]/s);
        }
      }
    }
    expect(refused).toBeGreaterThan(200);
  });

  it("maps the price ids of the plans from JSON or a file", () => {
    const idOf = (value: string) =>
      readConfig({ PLANS_PRICE_IDS: value }).plans.plans[1]?.priceIds["provider-a"];
    const map = JSON.stringify({ "provider-a": { price_pro_monthly: "price_live" } });
    expect(idOf(map)).toEqual(["price_live"]);
    const file = join(mkdtempSync(join(tmpdir(), "price-ids-")), "ids.json");
    for (const byteOrderMark of ["", "\uFEFF"]) {
      writeFileSync(file, `${byteOrderMark}${map}`);
      expect(idOf(file)).toEqual(["price_live"]);
    }
  });

  it.each([
    ["{", "is not JSON"],
    ["/nowhere/ids.json", "neither JSON nor the path of a readable file"],
    ['{"provider-d":{}}', "provider-d"],
    ['{"provider-a":{"price_pro_montly":"price_1"}}', 'has the price id "provider-a price_pro_montly"'],
    ['{"provider-a":{"price_pro_monthly":"price_team_monthly"}}', "is used twice"],
  ])("refuses the price ids %s", (value, problem) => {
    expect(() => readConfig({ PLANS_PRICE_IDS: value })).toThrow(problem);
    expect(() => readConfig({ PLANS_PRICE_IDS: value })).toThrow(/^PLANS_PRICE_IDS: .*, e\.g\. \{/);
  });

  it("starts in production without DATABASE_URL only when that is allowed", () => {
    expect(() => readConfig({ NODE_ENV: "production" })).toThrow(
      /^DATABASE_URL: required with NODE_ENV=production, e\.g\. postgres:.+EMBEDDED_IN_PRODUCTION=on/,
    );
    expect(readConfig({ NODE_ENV: "production", EMBEDDED_IN_PRODUCTION: "on" }).databaseUrl).toBeNull();
    expect(readConfig({ NODE_ENV: "production", DATABASE_URL: "postgres://localhost/x" }).isProduction).toBe(
      true,
    );
  });

  it("does not print a rejected secret", () => {
    expect(() => readConfig({ PROVIDER_A_WEBHOOK_SECRET: "whsec_very_secret,," })).not.toThrow(/very_secret/);
    expect(() => readConfig({ PROVIDER_A_API_KEY: "sk_very_secret and more" })).not.toThrow(/very_secret/);
  });

  it("names every invalid variable, one per line", () => {
    const refused = () => readConfig({ PORT: "x", WEBHOOK_MAX_BYTES: "y" });
    expect(refused).toThrow(/^PORT: .+\nWEBHOOK_MAX_BYTES: .+$/);
  });

  it("says from which to which a whole number may be", () => {
    for (const port of ["-1", "70000", "9".repeat(20)])
      expect(() => readConfig({ PORT: port })).toThrow(
        /^PORT: expected a number from \d+ to 65535, e.g. 3000$/,
      );
    for (const port of ["many", "1.5", "-", "-0", "+1"])
      expect(() => readConfig({ PORT: port })).toThrow("PORT: expected a whole number, e.g. 3000");
  });

  it("requires AUTH_SECRET with an external database", () => {
    expect(() => requireAuthSecret(readConfig({}))).not.toThrow();
    const externalDatabase = readConfig({ DATABASE_URL: "postgres://localhost/x" });
    expect(() => requireAuthSecret(externalDatabase)).toThrow(/^AUTH_SECRET: required/);
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
