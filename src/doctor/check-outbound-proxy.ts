import { type Finding, warning } from "./finding.ts";

/** Other programs use a proxy as soon as it is named, Node.js only when told to. */
export function checkOutboundProxy(variables: Record<string, string | undefined>): Finding[] {
  const name = ["HTTPS_PROXY", "https_proxy"].find((each) => variables[each]?.trim());
  const isUsed = variables.NODE_USE_ENV_PROXY === "1" || variables.NODE_OPTIONS?.includes("--use-env-proxy");
  if (name === undefined || isUsed) return [];
  return [
    warning(
      "variables",
      `${name} is set, but Node.js uses no proxy unless NODE_USE_ENV_PROXY is 1`,
      `Set NODE_USE_ENV_PROXY=1 if providers can be reached only through that proxy; otherwise unset ${name}.`,
    ),
  ];
}
