import type { AnyTRPCProcedure } from "@trpc/server";
import superjson from "superjson";
import { appRouter } from "../../../src/api/rpc/router.ts";
import type { RefusalCode } from "../../../src/domain/refusals/reason-definition.ts";
import { sendRequest } from "../../support/http.ts";
import { ADMINISTRATORS } from "./cases/who.ts";
import { entranceTo, limitsIn, type ShownReason, type Surface } from "./surface.ts";

const CODES: Record<string, RefusalCode> = {
  UNAUTHORIZED: "unauthorized",
  FORBIDDEN: "forbidden",
  TOO_MANY_REQUESTS: "rate_limited",
  BAD_REQUEST: "invalid_input",
  PAYLOAD_TOO_LARGE: "too_large",
  NOT_FOUND: "not_found",
  CONFLICT: "conflict",
  SERVICE_UNAVAILABLE: "unavailable",
};

const PROCEDURES = appRouter._def.procedures as unknown as Record<string, AnyTRPCProcedure>;

const success = () => ({ success: true });

type RpcError = { message: string; data: ShownReason & { code: string } };

export const rpcSurface: Surface = {
  name: "RPC",
  scope: "rpc",
  entrances: Object.keys(PROCEDURES),
  leadsTo: {
    "user.me": ["users.me"],
    "user.updateProfile": ["users.updateProfile"],
    "user.setLocale": ["users.setLocale"],
    "user.completeOnboarding": ["users.completeOnboarding"],
    "user.deleteAccount": ["users.deleteAccount"],
    "user.list": ["users.list"],
    "user.changeRole": ["users.changeRole"],
    "user.delete": ["users.delete"],
    "billing.plans": ["plans.list"],
    "billing.features": ["plans.features"],
    "billing.subscription": ["subscriptions.current"],
    "billing.payments": ["payments.list"],
    "billing.entitlements": ["entitlements.show"],
    "billing.check": ["entitlements.check"],
    "billing.changeSubscription": ["billing.changeSubscription"],
    "billing.createCheckout": ["billing.createCheckout"],
    "billing.openPortal": ["billing.openPortal"],
    "billing.deliveries": ["webhooks.list"],
    "billing.replay": ["webhooks.replay"],
    "billing.reconcile": ["subscriptions.reconcile"],
    "billing.dismiss": ["subscriptions.dismiss"],
    "notifications.list": ["notifications.list"],
    "notifications.unreadCount": ["notifications.unreadCount"],
    "notifications.markRead": ["notifications.markRead", "notifications.markAllRead"],
    "serviceKeys.list": ["serviceKeys.list"],
    "serviceKeys.create": ["serviceKeys.create"],
    "serviceKeys.rotate": ["serviceKeys.rotate"],
    "serviceKeys.revoke": ["serviceKeys.revoke"],
  },
  differs: {
    "users.me": { shows: ({ id, name, email }) => ({ id, name, email }) },
    "users.updateProfile": { shows: success, countedAs: "users.rename" },
    "users.setLocale": { shows: success },
    "users.completeOnboarding": { shows: success },
    // The contract lists it among the administrators' procedures.
    "users.list": { may: ADMINISTRATORS, countedAs: "users.listAll" },
    "notifications.markRead": { countedAs: "notifications.markOneOrAllRead" },
    "notifications.markAllRead": { countedAs: "notifications.markOneOrAllRead" },
  },
  refusesInput: () => false,
  call: async (serverUrl, operation, caller, callInput) => {
    const path = entranceTo(rpcSurface, operation);
    const input = operation === "notifications.markAllRead" ? { id: "all", ...callInput } : callInput;
    const sent = JSON.stringify(superjson.serialize(input));
    const response =
      PROCEDURES[path]?._def.type === "query"
        ? await sendRequest(serverUrl, "GET", `/api/trpc/${path}?input=${encodeURIComponent(sent)}`, caller)
        : await sendRequest(serverUrl, "POST", `/api/trpc/${path}`, { ...caller, body: sent });
    const limits = limitsIn(response);
    const { result, error } = response.body;
    if (result) {
      const output = JSON.parse(JSON.stringify(superjson.deserialize(result.data)));
      return { verdict: "ok", message: null, reason: null, output, ...limits };
    }
    const { message, data } = superjson.deserialize<RpcError>(error);
    const verdict = CODES[data.code];
    if (verdict === undefined) throw new Error(`${path}: ${data.code} ${message}`);
    const { reason, params } = data;
    return { verdict, message, reason: { reason, params }, output: null, ...limits };
  },
};
