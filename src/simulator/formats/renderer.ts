import type { Life, Step } from "../story.ts";

/** Whose subscription it is, and under which names the provider knows it. */
export type Subject = { userId: string; subscriptionId: string; customerId: string };

export type Telling = {
  life: Life;
  step: Step;
  /** The position of the step in its life, from 0. */
  at: number;
  subject: Subject;
  /** Told apart from all other runs by it. */
  run: string;
};

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
  /** Whether an event of the end says that it had been scheduled. */
  endKeepsSchedule: boolean;
};

/** The checkout's custom data: it keeps the plan that was bought, whatever is changed later. */
export function customData({ life, subject }: Telling): { userId: string; planId: string } {
  return { userId: subject.userId, planId: life.bought.planId };
}
