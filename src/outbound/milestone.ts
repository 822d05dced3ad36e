/** Each step at which a crash matters; tests crash there. */
export type OutboundMilestone =
  | "positions given"
  | "relayed"
  | "delivery claimed"
  | "delivery sent"
  | "delivery recorded";
