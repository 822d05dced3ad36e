import { type Config, readConfig } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { type EmbeddedSecrets, storedSecrets } from "../config/embedded-secrets.ts";
import { connectPayments, type PaymentAccess, paymentAccess, webhookSecrets } from "../config/payments.ts";
import { SLOTS, type Slot } from "../domain/slot.ts";
import { traitsOf } from "../providers/registry.ts";
import { checkAddress } from "./check-address.ts";
import { checkAuthSecret } from "./check-auth-secret.ts";
import { checkClock } from "./check-clock.ts";
import { checkDatabase, type DatabaseCheck } from "./check-database.ts";
import { checkKey } from "./check-key.ts";
import { checkKeyExpiry } from "./check-key-expiry.ts";
import { checkKeyFormat } from "./check-key-format.ts";
import { checkMail } from "./check-mail.ts";
import { checkOutboundProxy } from "./check-outbound-proxy.ts";
import { checkPlans, checkPrices, checkTrials } from "./check-prices.ts";
import { checkProduction } from "./check-production.ts";
import { checkProductionDatabase } from "./check-production-database.ts";
import { checkProxies } from "./check-proxies.ts";
import { checkRedis } from "./check-redis.ts";
import { checkVariableNames } from "./check-variable-names.ts";
import { checkWebhook } from "./check-webhooks.ts";
import { broken, type Finding, good, skipped } from "./finding.ts";
import { probe } from "./probe.ts";
import { slotsInTestMode } from "./slots-in-test-mode.ts";

export type DiagnoseOptions = {
  /** Also checks what matters only once strangers use the server. */
  production?: boolean;
};

/** Checks everything that a server with these variables depends on. */
export async function diagnose(
  variables: Record<string, string | undefined>,
  { production = false }: DiagnoseOptions,
): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(variables);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const remedy = "Correct it: until then the server does not start, and nothing else can be checked.";
    return error.message.split("\n").map((line) => broken("variables", line, remedy));
  }
  return [
    good("variables", "all are valid"),
    ...checkVariableNames(variables),
    ...checkOutboundProxy(variables),
    ...(await examine(config)),
    ...(production
      ? [
          ...checkProduction(config, await slotsInTestMode(config)),
          ...(await checkProductionDatabase(config)),
        ]
      : []),
  ];
}

async function examine(config: Config): Promise<Finding[]> {
  const { databaseUrl, simulator, dataDir } = config;
  const isOnOwnMachine = databaseUrl === null || simulator !== null;
  const stored = isOnOwnMachine ? await storedSecrets(dataDir) : null;
  const access = paymentAccess(config, stored);
  const secrets = webhookSecrets(config, stored);
  const payments = connectPayments(access);
  const [database, redis, mail, address, ofSlots, providerClocks] = await Promise.all([
    checkDatabase(config),
    checkRedis(config),
    checkMail(config),
    checkAddress(config),
    // Within a slot one request at a time: its provider may be slow.
    Promise.all(
      SLOTS.map(async (slot): Promise<Finding[]> => {
        const slotAccess = access[slot];
        const isUsed = slotAccess !== null || config.activeProvider === slot;
        const webhook = willGenerate(config, slot, { stored, secrets: secrets[slot] })
          ? skipped(`${slot} webhook`, "its secret is generated when the server first starts")
          : await checkWebhook(config, slot, { secrets: secrets[slot], isUsed });
        const api = payments[slot];
        if (slotAccess === null || api === null) return [webhook, withoutKey(config, slot, stored)];
        const { apiKeyVariable } = config.slots[slot];
        const wrongKey = slotAccess.isSimulated
          ? null
          : checkKeyFormat({ ...slotAccess, slot, apiKeyVariable });
        if (wrongKey !== null) return [webhook, wrongKey];
        const accepted = await checkKey(slot, { ...slotAccess, api });
        return [
          webhook,
          accepted,
          ...[checkTrials(config.plans, slot, api.traits)].filter((finding) => finding !== null),
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
  const expiring = keysThatExpire(config, access, database, ofSlots.flat());
  return [
    ...database.findings,
    redis,
    mail,
    checkAuthSecret(config),
    address.finding,
    checkProxies(config),
    checkClock(clocks, config.webhook.toleranceSeconds),
    checkPlans(config.plans, config.activeProvider),
    ...ofSlots.flat().map((finding) => expiring.get(finding) ?? finding),
  ];
}

/** For findings that a key is accepted: the warning to show instead if the key expires soon. */
function keysThatExpire(
  { slots }: Config,
  access: Record<Slot, PaymentAccess | null>,
  { keysUsedSince }: DatabaseCheck,
  findings: readonly Finding[],
): Map<Finding, Finding> {
  const followUps = new Map<Finding, Finding>();
  for (const slot of SLOTS) {
    const slotAccess = access[slot];
    const accepted = findings.find(({ check, state }) => check === `${slot} key` && state === "good");
    if (slotAccess === null || slotAccess.isSimulated || accepted === undefined) continue;
    const { apiKeyVariable } = slots[slot];
    const finding = checkKeyExpiry({ ...slotAccess, slot, apiKeyVariable }, keysUsedSince[slot], new Date());
    if (finding !== null) followUps.set(accepted, finding);
  }
  return followUps;
}

/** Whether the slot has no secret because no server has been started in this data folder. */
function willGenerate(
  config: Config,
  slot: Slot,
  { stored, secrets }: { stored: EmbeddedSecrets | null; secrets: readonly string[] },
): boolean {
  if (stored !== null || secrets.length > 0) return false;
  return config.databaseUrl === null || isSimulated(config, slot);
}

function isSimulated({ slots, simulator }: Config, slot: Slot): boolean {
  return simulator !== null && slots[slot].apiKey === null;
}

function withoutKey(config: Config, slot: Slot, stored: EmbeddedSecrets | null): Finding {
  const { slots, activeProvider } = config;
  const { apiKeyVariable } = slots[slot];
  if (stored === null && isSimulated(config, slot))
    return skipped(`${slot} key`, "the simulator's, which is generated when the server first starts");
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
  const response = await probe(apiUrl ?? traitsOf(format).productionUrl);
  return {
    whose: `${slot}'s provider`,
    aheadMs: "problem" in response ? null : response.clockAheadMs,
  };
}
