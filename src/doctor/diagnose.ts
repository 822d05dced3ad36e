import { type Config, readConfig } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { embeddedSecrets } from "../config/embedded-secrets.ts";
import { connectPayments, type PaymentAccess, paymentAccess, webhookSecrets } from "../config/payments.ts";
import { SLOTS, type Slot } from "../domain/slot.ts";
import { traitsOf } from "../providers/registry.ts";
import { hasEmbeddedDatabase } from "../store/embedded-exists.ts";
import { checkAddress, checkAuthSecret } from "./check-address.ts";
import { checkClock } from "./check-clock.ts";
import { checkDatabase } from "./check-database.ts";
import { checkKey } from "./check-key.ts";
import { checkKeyFormat } from "./check-key-format.ts";
import { checkMail } from "./check-mail.ts";
import { checkPlans, checkPrices } from "./check-prices.ts";
import { checkProxies } from "./check-proxies.ts";
import { checkRedis } from "./check-redis.ts";
import { checkWebhook } from "./check-webhooks.ts";
import { broken, type Finding, good, skipped } from "./finding.ts";
import { probe } from "./probe.ts";

/** Checks everything that a server with these variables depends on. */
export async function diagnose(variables: Record<string, string | undefined>): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(variables);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const remedy = "Correct it: until then the server does not start, and nothing else can be checked.";
    return error.message.split("\n").map((line) => broken("variables", line, remedy));
  }
  return [good("variables", "all are valid"), ...(await examine(config))];
}

async function examine(config: Config): Promise<Finding[]> {
  const { databaseUrl, simulator, dataDir } = config;
  const hasSecrets = databaseUrl !== null || hasEmbeddedDatabase(dataDir);
  const kept =
    hasSecrets && (databaseUrl === null || simulator !== null) ? await embeddedSecrets(dataDir) : null;
  const access = paymentAccess(config, kept);
  const secrets = webhookSecrets(config, kept);
  const payments = connectPayments(access);
  const [database, redis, mail, address, ofSlots, providerClocks] = await Promise.all([
    checkDatabase(config),
    checkRedis(config),
    checkMail(config),
    checkAddress(config),
    // Within a slot one request at a time: its provider may be slow.
    Promise.all(
      SLOTS.map(async (slot): Promise<Finding[]> => {
        const given = access[slot];
        const isUsed = given !== null || config.activeProvider === slot;
        const webhook = await checkWebhook(config, slot, { secrets: secrets[slot], isUsed });
        const api = payments[slot];
        if (given === null || api === null) return [webhook, withoutKey(config, slot)];
        const { apiKeyVariable } = config.slots[slot];
        const wrongKey = given.isSimulated
          ? null
          : checkKeyFormat({ ...given, slot, apiKeyVariable }, new Date());
        if (wrongKey?.state === "broken") return [webhook, wrongKey];
        const accepted = await checkKey(slot, { ...given, api });
        const key = accepted.state === "good" ? (wrongKey ?? accepted) : accepted;
        return [
          webhook,
          key,
          ...(accepted.state === "good" ? [await checkPrices(config.plans, slot, api)] : []),
        ];
      }),
    ),
    Promise.all(SLOTS.flatMap((slot) => (access[slot] ? [clockOf(slot, access[slot])] : []))),
  ]);
  const clocks = [
    { whose: "the database", aheadMs: database.aheadMs },
    { whose: config.appUrl, aheadMs: address.aheadMs },
    ...providerClocks,
  ];
  return [
    ...database.findings,
    redis,
    mail,
    checkAuthSecret(config),
    address.finding,
    checkProxies(config),
    checkClock(clocks, config.webhook.toleranceSeconds),
    checkPlans(config.plans, config.activeProvider),
    ...ofSlots.flat(),
  ];
}

function withoutKey({ slots, activeProvider }: Config, slot: Slot): Finding {
  const { apiKeyVariable } = slots[slot];
  if (slot !== activeProvider) return skipped(`${slot} key`, `${apiKeyVariable} is not set`);
  const remedy = `Set ${apiKeyVariable} to the provider's API key, or ACTIVE_PROVIDER to a slot that has one.`;
  return broken(
    `${slot} key`,
    `${apiKeyVariable} is not set, and this is the slot for new checkouts`,
    remedy,
  );
}

/** Any response has a Date header. */
async function clockOf(slot: Slot, { format, apiUrl }: PaymentAccess) {
  const answer = await probe(apiUrl ?? traitsOf(format).productionUrl);
  const theirsMs = typeof answer === "string" ? null : answer.theirsMs;
  const aheadMs = typeof answer === "string" || theirsMs === null ? null : theirsMs + 500 - answer.oursMs;
  return { whose: `${slot}'s provider`, aheadMs };
}
