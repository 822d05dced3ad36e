"use server";

import { getTranslations } from "next-intl/server";
import { showHistory } from "../../../../operations/subscriptions/show-history.ts";
import type { Outcome } from "../../../../ui/outcome.ts";
import type { Told } from "../../../../ui/told.tsx";
import { outcomeOf } from "../../../gate/outcome.ts";
import { read } from "../../../gate/read.ts";
import { changesInWords } from "../changes.tsx";
import { reconcileSubscription } from "./actions.ts";

export async function compareWithProvider(_before: Outcome, form: FormData): Promise<Outcome<Told>> {
  return outcomeOf(form, async () => {
    return toldOf(await reconcileSubscription(form));
  });
}

type Compared = Awaited<ReturnType<typeof reconcileSubscription>>;

/** What the comparison has written down last. */
async function toldOf({ id, providerSubscriptionId }: Compared): Promise<Told> {
  const [words, { items }] = await Promise.all([
    getTranslations("adminSubscriptions"),
    read(showHistory, { id, limit: 1 }),
  ]);
  const [latest] = items;
  const { outOfOrder: _, ...corrected } = latest?.source === "reconcile" ? latest.changes : {};
  const changes = await changesInWords(corrected);
  return {
    tone: "good",
    sentence: words(changes.length > 0 ? "compared.corrected" : "compared.same", {
      subscription: providerSubscriptionId ?? id,
    }),
    details: changes.map((change) => words("compared.change", change)),
  };
}
