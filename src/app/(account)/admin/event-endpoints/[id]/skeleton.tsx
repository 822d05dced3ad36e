import { Skeleton } from "../../../../../ui/skeleton.tsx";

export function EventEndpointSkeleton() {
  return (
    <div className="flex flex-col gap-6">
      <Skeleton className="h-20 w-72" />
      <Skeleton className="h-52 w-full" />
      <Skeleton className="h-44 w-full" />
      <Skeleton className="h-60 w-full" />
      <Skeleton className="h-80 w-full" />
    </div>
  );
}
