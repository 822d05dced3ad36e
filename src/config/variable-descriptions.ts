import { OBSERVABILITY_DESCRIPTIONS } from "./observability-descriptions.ts";
import type { VariableDescription } from "./variable-description.ts";

export const VARIABLE_DESCRIPTIONS: readonly VariableDescription[] = [
  {
    names: ["PORT", "HOST"],
    unset: "3000, 127.0.0.1",
    meaning: "the address to listen on",
  },
  {
    names: ["NODE_ENV"],
    unset: "none",
    meaning:
      "`production`, `development` or `test`; `production` switches GraphQL introspection and the simulator off unless they are set, and requires `DATABASE_URL` or `EMBEDDED_IN_PRODUCTION`",
  },
  {
    names: ["DATA_DIR"],
    unset: "`.data`",
    meaning: "folder of the embedded database, generated secrets and mail files; relative to the project",
  },
  {
    names: ["DATABASE_URL"],
    unset: "an embedded PostgreSQL in `DATA_DIR`",
    meaning:
      "PostgreSQL 15 or later: a database in UTF-8 that the role owns, directly or through PgBouncer in transaction mode. Of several servers (`postgres://user@one:5432,two:5432/tollgate`) the primary is used: [failover](../how-to/run-several-servers.md). A socket's folder is a parameter: `postgres://user@/tollgate?host=/run/postgresql`. `?sslmode=verify-full` encrypts the connection, with `&sslrootcert=/path/to/ca.pem` for a CA of your own or your host's (`system`: the usual ones); `sslmode=require` checks the certificate too, and without either nothing is encrypted",
  },
  {
    names: ["DATABASE_PREPARED"],
    unset: "`on`",
    meaning:
      "`off` for poolers without prepared statements (PgBouncer before 1.24, unless its `max_prepared_statements` is set)",
  },
  {
    names: ["EMBEDDED_IN_PRODUCTION"],
    unset: "`off`",
    meaning: "`on` lets `NODE_ENV=production` start on the embedded database",
  },
  {
    names: ["REDIS_URL"],
    unset: "counts in memory",
    meaning: "shared rate limits: one Redis, or several nodes of one cluster separated by commas",
  },
  {
    names: ["APP_URL"],
    unset: "`http://localhost:$PORT`",
    meaning: "the public origin",
  },
  {
    names: ["CORS_ORIGINS"],
    unset: "none",
    meaning:
      "origins, separated by commas, whose pages may call `/api` with users' API keys: [from a browser](../how-to/call-from-a-browser.md)",
  },
  {
    names: ["RETURN_ORIGINS"],
    unset: "the origin of `APP_URL`",
    meaning:
      "origins, separated by commas, where a checkout or portal may return to that another program opens (`returnUrl`)",
  },
  {
    names: ["AUTH_SECRET"],
    unset: "generated with the embedded database, else required",
    meaning: "the secret that signs sessions: 32 random characters or more",
  },
  {
    names: ["TRUSTED_PROXIES"],
    unset: "none",
    meaning:
      "proxies whose `X-Forwarded-For` is used: a number of hops, or CIDRs. Set it behind a proxy: otherwise all clients share one address and its limits",
  },
  {
    names: ["ACTIVE_PROVIDER"],
    unset: "`provider-a`",
    meaning: "the slot for new checkouts",
  },
  {
    names: ["PROVIDER_A_ADAPTER"],
    unset: "`stripe`, `paddle`, `polar`",
    meaning: "the provider of the slot: `stripe`, `paddle`, `polar` or `lemon-squeezy`",
  },
  {
    names: ["PROVIDER_A_WEBHOOK_SECRET"],
    unset: "generated with the embedded database",
    meaning:
      "one or several signing secrets, separated by commas: any of them verifies, so that secrets can be rotated",
  },
  {
    names: ["PROVIDER_A_API_KEY"],
    unset: "the simulator's, while it is on",
    meaning: "provider API credentials: checkout, portal, cancellation, comparison",
  },
  {
    names: ["PROVIDER_A_API_URL"],
    unset: "the provider's production URL",
    meaning: "another address, such as a sandbox; needs the key",
  },
  {
    names: ["SIMULATOR"],
    unset:
      "`on` with the embedded database, no API key and a local `APP_URL`, outside production; else `off`",
    meaning: "a simulated payment provider for slots without a key, with signing secrets of its own",
  },
  {
    names: ["SIMULATOR_PORT"],
    unset: "3001",
    meaning: "its port, on 127.0.0.1",
  },
  {
    names: ["RECONCILE"],
    unset: "`on`",
    meaning:
      "`off`: no nightly comparison of subscriptions with their provider, and no sweep for missed events",
  },
  {
    names: ["RECONCILE_EVERY_SECONDS"],
    unset: "60",
    meaning: "how often the sweep searches for missed events",
  },
  {
    names: ["SELF_HEAL"],
    unset: "`on`",
    meaning:
      "a subscription that is out of order is compared with its provider at once; `off`: it waits for the nightly comparison",
  },
  {
    names: ["OUTBOUND_ALLOW"],
    unset: "none",
    meaning:
      "hosts (with or without a port), addresses or CIDRs that [outbound events](../how-to/receive-events.md) may reach besides public https addresses, by http too, such as `hooks.internal,10.0.0.0/8`",
  },
  {
    names: ["WEBHOOK_TOLERANCE_SECONDS"],
    unset: "300",
    meaning: "how far a signed timestamp may differ from now, in both directions",
  },
  {
    names: ["WEBHOOK_LEASE_SECONDS"],
    unset: "30",
    meaning:
      "how long a claim holds before another process may take it over; PostgreSQL has a third of it for a statement, 30 s at most",
  },
  {
    names: ["WEBHOOK_MAX_BYTES"],
    unset: "1048576",
    meaning: "larger bodies are refused while they are read",
  },
  {
    names: ["RATE_LIMIT_<SCOPE>"],
    unset: "[per scope](rate-limits.md)",
    meaning: "`limit/windowSeconds`, such as `RATE_LIMIT_API=30/60`",
  },
  {
    names: ["RATE_LIMIT_MEMORY_KEYS"],
    unset: "100000",
    meaning: "how many keys the limiter in memory holds",
  },
  {
    names: ["SMTP_URL", "MAIL_FROM"],
    unset: "files in `DATA_DIR/mail`, from `no-reply@localhost`",
    meaning:
      "the mail server, and the sender's one address, with or without a name; set both for a mail server: others refuse mail from `localhost`",
  },
  {
    names: ["REQUIRE_EMAIL_CONFIRMATION"],
    unset: "`off`",
    meaning: "`on`: an email address must be confirmed before the first sign-in; needs `SMTP_URL`",
  },
  {
    names: ["DELIVERY_RETENTION_DAYS"],
    unset: "90, at least 7",
    meaning: "how long the payloads of settled deliveries are kept; their event ids and outcomes stay",
  },
  {
    names: ["REQUIRE_ADMIN_2FA"],
    unset: "`off`",
    meaning:
      "`on`: administrators must set up a second factor before they can use any administrative function",
  },
  {
    names: ["AUDIT_RETENTION_DAYS"],
    unset: "365, at least 30",
    meaning:
      "how long entries of the audit log are kept, and what comparisons with a provider have changed, but for the last one of each subscription",
  },
  {
    names: ["PLANS_PRICE_IDS"],
    unset: "the ids in `plans.config.ts`",
    meaning:
      'price ids of this environment: JSON, or the path of a file with it, from the ids in `plans.config.ts` to the provider\'s own, per slot, such as `{"provider-a":{"price_pro_monthly":"price_1Q9z"}}`',
  },
  {
    names: ["AI_BASE_URL", "AI_API_KEY", "AI_MODEL"],
    unset: "none: `POST /api/chat` answers 503",
    meaning:
      "an endpoint compatible with OpenAI's chat completions; the base URL needs a model, the key is optional",
  },
  {
    names: ["AI_MAX_OUTPUT_TOKENS"],
    unset: "4096",
    meaning: "the longest response of the assistant",
  },
  {
    names: ["GRAPHQL"],
    unset: "`on`",
    meaning: "`off` removes `/api/graphql`",
  },
  {
    names: ["GRAPHQL_INTROSPECTION"],
    unset: "`on`; `off` with `NODE_ENV=production`",
    meaning: "whether GraphQL shows its schema and GraphiQL",
  },
  {
    names: ["DEPRECATION_FORMAT"],
    unset: "`simple`",
    meaning: "`rfc` writes `Deprecation` and `Sunset` as in RFC 9745 and RFC 8594",
  },
  ...OBSERVABILITY_DESCRIPTIONS,
  {
    names: ["CRON_SECRET"],
    unset: "none: 404",
    meaning:
      "the bearer token for `GET /api/cron/<job>`, which runs a periodic job once: for hosts without a process of their own; 16 characters or more",
  },
];
