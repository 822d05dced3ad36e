import { readFileSync } from "node:fs";
import { z } from "zod";
import plans from "../../plans.config.ts";
import type { PlanCatalog } from "../domain/plans/plan.ts";
import { SLOTS } from "../domain/slot.ts";
import { ConfigError } from "./config-error.ts";

const EXAMPLE = '{"provider-a":{"price_pro_monthly":"price_1Q9zLive"}}';
const MAX_CHARACTERS = 255;

const PriceIdMap = z.partialRecord(
  z.enum(SLOTS),
  z.record(z.string().min(1), z.string().min(1).max(MAX_CHARACTERS)),
);

/**
 * The plans for sale with the price ids of this environment: test and live mode have different ones, and
 * neither needs a change of `plans.config.ts`.
 * @param value JSON, or the path of a file with it
 * @throws ConfigError
 */
export function readPlans(value: string | undefined): PlanCatalog {
  if (value === undefined) return plans;
  const parsed = PriceIdMap.safeParse(parseJson(value));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`${issue?.path.join(".") || "the map"}: ${issue?.message}`);
  }
  try {
    return plans.withPriceIds(parsed.data);
  } catch (error) {
    if (error instanceof z.ZodError) throw invalid(error.issues[0]?.message ?? "is invalid");
    throw invalid((error as Error).message);
  }
}

function parseJson(value: string): unknown {
  let json = value;
  if (!value.startsWith("{")) {
    try {
      // Without a byte order mark.
      json = new TextDecoder().decode(readFileSync(value));
    } catch {
      throw invalid("neither JSON nor the path of a readable file");
    }
  }
  try {
    return JSON.parse(json);
  } catch {
    throw invalid("is not JSON");
  }
}

function invalid(problem: string): ConfigError {
  return new ConfigError(`PLANS_PRICE_IDS: ${problem}, e.g. ${EXAMPLE} or /etc/tollgate/price-ids.json`);
}
