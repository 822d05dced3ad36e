import { dueEndpoints } from "../store/outbound/claim-outbound-deliveries.ts";
import { resolveHost } from "./allowed-targets.ts";
import { openEndpointConnections } from "./endpoint-connections.ts";
import { createEndpointSender, type EndpointSender, type SenderOptions } from "./endpoint-sender.ts";
import { sharedLookUps } from "./shared-look-ups.ts";
import { createAllowance } from "./yield-to-intake.ts";

export type DispatcherOptions = Omit<SenderOptions, "allowance" | "connections" | "isStopped"> & {
  /** Whether webhooks queue in this process, which sending yields to; by default they never do. */
  isIntakeBusy?: () => boolean;
};

export type Dispatcher = {
  /** Starts sending what is due, without waiting for responses. Returns how many were started. */
  dispatch(): Promise<number>;
  /** Starts nothing new. Resolves when what was started is recorded. */
  stop(): Promise<void>;
  /** Resolves when nothing is being sent. */
  idle(): Promise<void>;
};

export function createDispatcher({ isIntakeBusy = () => false, ...options }: DispatcherOptions): Dispatcher {
  const senders = new Map<string, EndpointSender>();
  const connections = openEndpointConnections();
  const resolve = sharedLookUps(options.resolve ?? resolveHost);
  const allowance = createAllowance(isIntakeBusy);
  let isStopped = false;
  const senderTo = (endpointId: string): EndpointSender => {
    const existing = senders.get(endpointId);
    if (existing) return existing;
    const senderOptions = { ...options, allowance, connections, resolve, isStopped: () => isStopped };
    const sender = createEndpointSender(senderOptions, endpointId);
    senders.set(endpointId, sender);
    return sender;
  };
  const idle = async () => {
    await Promise.all([...senders.values()].map((sender) => sender.idle()));
  };
  return {
    dispatch: async () => {
      if (isStopped) return 0;
      for (const [endpointId, sender] of senders) if (sender.isIdle()) senders.delete(endpointId);
      const due = await dueEndpoints(options.database, [...options.hooks.keys()]);
      allowance.renew(due.length);
      const started = await Promise.all(due.map((endpointId) => senderTo(endpointId).proceed()));
      return started.reduce((sum, count) => sum + count, 0);
    },
    stop: async () => {
      isStopped = true;
      await idle();
      connections.close();
    },
    idle,
  };
}
