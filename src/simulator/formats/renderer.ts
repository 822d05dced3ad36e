import type { Happening, Life, Standing } from "../story.ts";

/** Whose subscription it is, and under which names the provider knows it. */
export type Subject = { userId: string; subscriptionId: string; customerId: string };

/**
 * What a provider tells besides a story's happenings: a renewal's payment, that nobody hopes for one any more, and the same
 * once more as a general update.
 */
export type Told = Happening | "charged" | "written off" | "restated";

export type ToldStanding = Omit<Standing, "status"> & { status: Standing["status"] | "unpaid" };

export type Telling = {
  life: Pick<Life, "bought" | "startedAtSeconds">;
  step: { happening: Told; atSeconds: number; standing: ToldStanding };
  /** The position of the step in its life, from 0. */
  at: number;
  subject: Subject;
  /** Told apart from all other runs by it. */
  run: string;
  /** What the hosted checkout was asked for and filled in with; a story makes it up. */
  checkout?: PaidCheckout;
};

export type PaidCheckout = {
  id: string;
  /** Custom data as it was given, and as the provider keeps it on the subscription. */
  data: CustomData;
  subscriptionData: CustomData;
  email: string;
  /** The customer's id in the seller's own books, in formats that know one. */
  externalId: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  /** Formats that tell the portal's link with the subscription make a new one each time. */
  portalUrl: string | null;
};

export type CustomData = Readonly<Record<string, unknown>>;

type WireEvent = {
  /** For the header, in formats that have the id there; otherwise it is in the body. */
  eventId: string;
  eventType: string;
  body: object;
};

/** A provider's manner of telling what happened. */
export type Renderer = {
  /** @param number which of the run's subscriptions, from 0 */
  namesOf(run: string, number: number): Omit<Subject, "userId">;
  render(telling: Telling): WireEvent;
  /** The subscription alone, as the provider's API answers it. */
  subscription(telling: Telling): object;
  /** What it tells with a general update as well. */
  restates: readonly Told[];
  /** Whether an event of the end says that it had been scheduled. */
  endKeepsSchedule: boolean;
};

/** The checkout's custom data: it keeps the plan that was bought, whatever is changed later. */
export function customData({ life, step, subject, checkout }: Telling): CustomData {
  if (!checkout) return { userId: subject.userId, planId: life.bought.planId };
  return step.happening === "checkout completed" ? checkout.data : checkout.subscriptionData;
}

export function emailOf({ subject, checkout }: Telling): string {
  return checkout?.email ?? `${subject.userId}@example.com`;
}
