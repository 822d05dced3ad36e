import plans from "../plans.config.ts";
import { newApiKey } from "./auth/api-key.ts";
import type { Auth } from "./auth/auth.ts";
import { createAuth } from "./auth/create-auth.ts";
import { createMail } from "./auth/mail.ts";
import type { Environment } from "./env.ts";
import { createLimits } from "./limits/create-limits.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Dependencies } from "./operations/dependencies.ts";
import type { Runtime } from "./runtime.ts";

/** What a process needs that serves people, besides what every process works with. */
export type Service = {
  deps: Dependencies;
  auth: Auth;
  /** `null`: nobody may read them. */
  metrics: Metrics | null;
  /** Finishes what runs; the runtime is to be closed afterwards. */
  close(): Promise<void>;
};

export type ServiceOptions = {
  log: Log;
  /** Of pages that may write with a person's cookie. */
  ownOrigins(): readonly string[];
};

const FORGET_EVERY_MS = 60 * 60 * 1000;

export async function startService(
  environment: Environment,
  runtime: Runtime,
  { log, ownOrigins }: ServiceOptions,
): Promise<Service> {
  // Large packages are loaded by those who have use for them.
  const metrics = environment.metricsToken === null ? null : (await import("./metrics.ts")).createMetrics();
  const chat = environment.chat && (await import("./chat/create-chat.ts")).createChat(environment.chat);
  const mail = createMail({ ...environment.mail, dataDir: environment.dataDir, log });
  const auth = createAuth({
    database: runtime.database,
    secret: environment.authSecret ?? (runtime.embedded?.authSecret as string),
    appUrl: environment.appUrl,
    ownOrigins,
    mail,
    requireConfirmation: environment.mail.requireConfirmation,
    log,
  });
  const limits = await createLimits({
    policies: environment.rateLimits,
    redisUrls: environment.redisUrls,
    log,
    ...(metrics ? { metrics: metrics.limiter } : {}),
  });
  const forgetting = setInterval(() => {
    forgetAllExpired(auth).catch((err) =>
      log.warn({ err }, "expired sessions could not be deleted: tried again in an hour"),
    );
  }, FORGET_EVERY_MS);
  return {
    deps: {
      database: runtime.database,
      intake: runtime.intake,
      limits,
      plans,
      newApiKey,
      observe: metrics?.called ?? null,
      chat,
    },
    auth,
    metrics,
    close: async () => {
      clearInterval(forgetting);
      await Promise.all([auth.idle(), mail.close(), limits.close()]);
    },
  };
}

async function forgetAllExpired(auth: Auth): Promise<void> {
  while ((await auth.forgetExpired()) > 0);
}
