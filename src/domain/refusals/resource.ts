import { z } from "zod";

/** Resources that can be missing, as the sentence names them. */
export const RESOURCES = {
  endpoint: "endpoint",
  user: "user",
  subscription: "subscription",
  api_key: "API key",
  notification: "notification",
  delivery: "delivery",
  feature: "feature",
  event_endpoint: "event endpoint",
  service_key: "service key",
  session: "session",
  job: "job",
} as const;

export type Resource = keyof typeof RESOURCES;

export const Resource = z.enum(Object.keys(RESOURCES) as Resource[]);
