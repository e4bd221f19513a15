import{Avatar as ge,counted as ve,html as A,Problem as ye,Sheet as Y,titleOf as _,useEffect as we,useState as E}from"../app.js";function G({state:e,actions:s,onClose:t}){let[n,l]=E(null),[a,c]=E(""),[m,r]=E("");we(()=>{s.publicGroups().then(l,u=>c(u.message))},[]);let $=u=>s.join(u).then(t,p=>c(p.message)),d=(n??[]).filter(u=>`${u.name} ${u.id}`.toLowerCase().includes(m.toLowerCase()));return A`
    <${Y} title="Public groups" onClose=${t}>
      <${ye} text=${a} />
      <label class="field"><span class="unseen">Search public groups</span><input type="search" placeholder="Search groups" autofocus value=${m}
        onInput=${u=>r(u.target.value)} /></label>
      ${n===null&&!a&&A`<p class="quiet">Loading…</p>`}
      ${n!==null&&d.length===0&&A`<p class="quiet">${n.length===0?"No public groups yet. Create one and let anyone join.":`No groups match \u201C${m}\u201D.`}</p>`}
      <ul class="people">
        ${d.map(u=>A`
          <li key=${u.id} data-public=${u.id}>
            <span class="who"><${ge} name=${_(u,e.people)} square /><span class="person">${_(u,e.people)}<small>${ve(u.members,"member")}</small></span></span>
            ${e.groups.has(u.id)?A`<a class="button" href="#${encodeURIComponent(u.id)}" aria-label="Open ${_(u,e.people)}" onClick=${t}>Open</a>`:A`<button type="button" class="button primary" aria-label="Join ${_(u,e.people)}" onClick=${()=>$(u.id)}>Join</button>`}
          </li>`)}
      </ul>
    </${Y}>`}import{Avatar as ke,fullTime as Se,html as w,Icon as xe,KnownPeople as Ce,Name as Pe,Problem as K,Sheet as F,shortTime as Ie,textOf as z,titleOf as Oe,useState as R,withLabels as Ae}from"../app.js";function J({state:e,actions:s,onClose:t}){let[n,l]=R(""),[a,c]=R(""),m=[...e.inbox.items].reverse(),r=()=>{l(""),s.clearInbox().catch($=>l($.message))};return w`
    <${F} title="Inbox" side onClose=${t}>
      <${K} text=${n} />
      ${!e.inbox.complete&&w`<p class="quiet">Some older items are no longer available.</p>`}
      ${m.length===0&&w`<p class="quiet">You’re all caught up. Direct messages and mentions appear here.</p>`}
      <ul class="items">
        ${m.map($=>w`<li key=${$.seq} class="item" data-seq=${$.seq} data-kind=${$.kind}><${Re} item=${$} groups=${e.groups} people=${e.people} me=${e.me} onReply=${c} onOpen=${t} /></li>`)}
      </ul>
      ${m.length>0&&w`<p class="buttons"><button type="button" class="button" onClick=${r}>Mark all as read</button></p>`}
      <${De} key=${a} to=${a} people=${e.people} me=${e.me} send=${s.direct} />
    </${F}>`}function Re({item:e,groups:s,people:t,me:n,onReply:l,onOpen:a}){let c=s.get(e.group??""),m=c?Oe(c,t):e.group;return w`
    <${ke} user=${e.from} name=${e.group??"?"} />
    <div class="item-text">
      <p class="item-head"><strong>${qe(e,m,z(t,e.from??""))}</strong><time datetime=${e.sent_at} title=${Se(e.sent_at)}>${Ie(e.sent_at)}</time></p>
      ${e.body!==void 0&&w`<p class="item-body">${Ae(e.body,t,[n])}</p>`}
      ${e.kind==="direct"&&e.from&&w`<button type="button" class="text-button" onClick=${()=>l(e.from??"")}><${xe} name="reply" />Reply</button>`}
      ${c&&w`<a class="text-button" href="#${encodeURIComponent(c.id)}" onClick=${a}>Open ${m}</a>`}
    </div>`}function qe(e,s,t){switch(e.kind){case"direct":return w`<${Pe} user=${e.from} />`;case"mention":return`${t} mentioned you in ${s}`;case"added":return`${t} added you to ${s}`;case"removed":return`${t} removed you from ${s}`;case"announcement":return`Announcement${t&&` from ${t}`}`;case"schedule_failed":return"A scheduled message could not be sent";default:return e.kind.replaceAll("_"," ")}}function De({to:e,people:s,me:t,send:n}){let[l,a]=R(e),[c,m]=R(""),[r,$]=R(""),[d,u]=R("");async function p(i){i.preventDefault(),$(""),u("");try{await n(l.trim(),c.trim()),m(""),u(`Sent to ${z(s,l.trim())}.`)}catch(o){$(o.message)}}return w`
    <form class="sheet-foot stack" onSubmit=${p}>
      <h3>Send a direct message</h3>
      <label class="field"><span>To</span><input name="to" required maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob"
        value=${l} list="known-people" onInput=${i=>a(i.target.value)} /></label>
      <${Ce} people=${s} except=${new Map([[t,!0]])} />
      <label class="field"><span>Message</span><textarea name="direct" rows="2" required autofocus=${e!==""} value=${c}
        onInput=${i=>m(i.target.value)}></textarea></label>
      <${K} text=${r} />
      <p class="quiet" role="status">${d}</p>
      <button class="button primary">Send</button>
    </form>`}import{Avatar as Ne,html as f,IconButton as Q,inviteLink as Te,KnownPeople as _e,labelOf as H,Name as Me,Problem as Le,roleOf as We,Sheet as V,textOf as Be,titleOf as X,useEffect as je,useState as k}from"../app.js";var Z={owner:0,admin:1,member:2};function te({state:e,actions:s,group:t,onClose:n}){let[l,a]=k(""),[c,m]=k(!1),r=e.groups.get(t);if(!r)return null;let $=We(e,t),d=$==="owner"||$==="admin",u=[...e.members.get(t)?.values()??[]],p=o=>Be(e.people,o);u.sort((o,h)=>Z[o.role]-Z[h.role]||H(e.people,o.user).localeCompare(H(e.people,h.user))||(o.user<h.user?-1:1));let i=o=>(a(""),o.then(()=>!0,h=>(a(h.message),!1)));return f`
    <${V} title="Members of ${X(r,e.people)}" side onClose=${n}>
      <${Le} text=${l} />
      ${!r.direct&&f`<${Ee} group=${r} manages=${d} actions=${s} />`}
      ${d&&f`<${Ue} people=${e.people} members=${e.members.get(t)} onAdd=${(o,h)=>i(s.addMember(t,o,h))} />`}
      <ul class="people">
        ${u.map(o=>f`
          <li key=${o.user} data-user=${o.user}>
            <span class="who"><${Ne} user=${o.user} /><span class="person"><${Me} user=${o.user} />${o.user===e.me&&f` <small>(you)</small>`}</span></span>
            <span class="controls">${!r.direct&&o.user!==e.me&&f`<${Q} icon="send" label="Message ${p(o.user)}" onClick=${async()=>{await i(s.openDirect(o.user))&&n()}} />`}
            ${d&&o.role!=="owner"&&o.user!==e.me?f`<select aria-label="Role of ${p(o.user)}" value=${o.role} onChange=${h=>i(s.addMember(t,o.user,h.target.value))}>
                  <option value="member">Member</option><option value="admin">Admin</option></select>
                  <${Q} icon="close" label="Remove ${p(o.user)}" onClick=${()=>i(s.removeMember(t,o.user))} />`:f`<span class="role">${o.role[0].toUpperCase()}${o.role.slice(1)}</span>`}</span>
          </li>`)}
      </ul>
      ${u.length<r.members&&f`<p class="quiet">and ${(r.members-u.length).toLocaleString()} more</p>`}
      ${d&&f`<${Ye} name=${r.name} onSave=${o=>i(s.changeGroup(t,{name:o}))} />
        <${Ge} group=${r} onSave=${o=>i(s.changeGroup(t,o))} />`}
      ${!r.direct&&f`<div class="sheet-foot">
        ${c?f`<p>Leave ${X(r,e.people)}?${r.members<=1?" You\u2019re the last member, so the group will be deleted.":""}</p>
              <p class="buttons"><button type="button" class="button danger" onClick=${()=>i(s.leave(t))}>Leave group</button>
              <button type="button" class="button" onClick=${()=>m(!1)}>Cancel</button></p>`:f`<button type="button" class="button" onClick=${()=>m(!0)}>Leave group</button>`}
      </div>`}
    </${V}>`}var ee=100;function Ee({group:e,manages:s,actions:t}){let[n,l]=k(""),[a,c]=k(""),[m,r]=k(null);je(()=>{a&&import("./qr.js").then(r,()=>{})},[a]);let $=()=>t.invite(e.id,ee).then(p=>{c(p),l(`Whoever has this link can join: up to ${ee} people.`)},p=>l(p.message));async function d(p){p.preventDefault();let i=p.target.elements.invite;i.focus(),i.select();let o=document.execCommand("copy")||await navigator.clipboard?.writeText(i.value).then(()=>!0,()=>!1);l(o?"Link copied.":"Press Ctrl+C to copy the link.")}let u=e.visibility==="public"?"They sign in, and join under \u201CPublic groups\u201D.":s?"They sign in, and you add them by name below.":"They sign in, and the owner or an admin adds them.";return t.hasAccount()&&!a?s&&f`
      <div class="stack">
        <button type="button" class="button primary wide" name="invite-people" onClick=${$}>Invite people</button>
        <small role="status">${n||"Makes a link. Whoever opens it can create an account, and is in the group."}</small>
      </div>`:f`
    <form class="row-form" name="invite" onSubmit=${d}>
      <label class="field"><span>Invite link</span>
        <input name="invite" readonly value=${a||Te(e.id)} onFocus=${p=>p.target.select()} />
        <small role="status">${n||u}</small></label>
      <button class="button">Copy</button>
      ${s&&!a&&f`<button type="button" class="button" name="invite-people" onClick=${$}>Invite people</button>`}
    </form>
    ${a&&m&&f`<${m.QR} text=${a} label="QR code of the invite link" />`}`}function Ue({people:e,members:s,onAdd:t}){let[n,l]=k(""),[a,c]=k("member");async function m(r){r.preventDefault(),await t(n.trim(),a)&&l("")}return f`
    <form class="row-form" onSubmit=${m}>
      <label class="field"><span>Add member</span>
        <input name="user" required maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob" value=${n} list="known-people"
          onInput=${r=>l(r.target.value)} /></label>
      <select aria-label="Role" value=${a} onChange=${r=>c(r.target.value)}>
        <option value="member">Member</option><option value="admin">Admin</option></select>
      <button class="button primary">Add</button>
      <${_e} people=${e} except=${s} />
    </form>`}function Ye({name:e,onSave:s}){let[t,n]=k(e);return f`
    <form class="row-form" onSubmit=${a=>{a.preventDefault(),s(t.trim())}}>
      <label class="field"><span>Group name</span>
        <input name="group-name" maxlength="200" autocomplete="off" value=${t} onInput=${a=>n(a.target.value)} /></label>
      <button class="button" disabled=${t.trim()===e}>Rename</button>
    </form>`}function Ge({group:e,onSave:s}){let[t,n]=k(String(e.keep??"")),[l,a]=k(String(e.retain_days??"")),c=e.retain_days!==void 0,m={};return t!==""&&Number(t)!==e.keep&&(m.keep=Number(t)),c&&l!==""&&Number(l)!==e.retain_days&&(m.retain_days=Number(l)),f`
    <form class="stack" name="retention" onSubmit=${$=>{$.preventDefault(),s(m)}}>
      <label class="field"><span>Recent messages to keep</span>
        <input type="number" name="keep" required min="0" max="100000" value=${t} onInput=${$=>n($.target.value)} />
        <small>They stay even when everyone has read them. With an archive, older ones stay available too.</small></label>
      ${c&&f`
        <label class="field"><span>Days until messages are removed</span>
          <input type="number" name="retain_days" required min="0" max="36500" value=${l} onInput=${$=>a($.target.value)} />
          <small>0 keeps them forever. The server may have a shorter limit.</small></label>`}
      <button class="button" disabled=${Object.keys(m).length===0}>Save</button>
    </form>`}import{html as Fe,newKey as Ke,Problem as ze,Sheet as se,useRef as Je,useState as ne}from"../app.js";function ae({actions:e,onClose:s}){let[t,n]=ne(""),[l,a]=ne(!1),c=Je({content:"",key:""});async function m(r){r.preventDefault();let $=new FormData(r.target),d=o=>String($.get(o)??"").trim(),u=d("members").split(/[\s,]+/).filter(Boolean),p={name:d("name"),id:d("id")||void 0,visibility:d("visibility"),members:u.length>0?u:void 0},i=JSON.stringify(p);c.current.content!==i&&(c.current={content:i,key:Ke()}),a(!0),n("");try{await e.createGroup(p,c.current.key),s()}catch(o){n(o.code==="exists"?"This ID is already in use. Choose another one.":o.message),a(!1)}}return Fe`
    <${se} title="New group" onClose=${s}>
      <form class="stack" onSubmit=${m}>
        <label class="field"><span>Name</span><input name="name" required autofocus maxlength="200" autocomplete="off" placeholder="Weekend trip" /></label>
        <label class="field"><span>Members</span><input name="members" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob, carol" />
          <small>${e.hasAccount()?"Usernames of people with an account, separated by commas. Others join by an invite link, later.":"Separate names with commas. You can add more people later."}</small></label>
        <fieldset class="choice">
          <legend>Who can join</legend>
          <label><input type="radio" name="visibility" value="private" checked /><span><strong>Private</strong><small>Only people you add</small></span></label>
          <label><input type="radio" name="visibility" value="public" /><span><strong>Public</strong><small>Anyone on this server</small></span></label>
        </fieldset>
        <details><summary>Set a custom ID</summary>
          <label class="field"><span class="unseen">Custom ID</span><input name="id" maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="weekend-trip" />
            <small>The group’s name in the API: letters, digits and . _ - @ + | : only. It can’t be changed later.</small></label></details>
        <${ze} text=${t} />
        <button class="button primary wide" disabled=${l}>Create group</button>
      </form>
    </${se}>`}import{Avatar as Qe,counted as He,html as T,Name as Ve,Problem as Xe,Sheet as oe,useEffect as Ze,useState as le}from"../app.js";function re({state:e,actions:s,group:t,id:n,onClose:l}){let[a,c]=le(null),[m,r]=le(""),$=e.members.get(t);Ze(()=>{let i=!1;return s.receipts(t,n).then(o=>{i||c(o)},o=>{i||r(o.message)}),()=>{i=!0}},[$]);let d=a?.seen_by??[],u=d.filter(i=>i.read>=n).map(i=>i.user),p=d.filter(i=>i.read<n).map(i=>i.user);return T`
    <${oe} title="Read receipts" side onClose=${l}>
      <${Xe} text=${m} />
      ${!a&&!m&&T`<p class="quiet">Loading…</p>`}
      ${a&&T`
        <p class="lead">Read by ${a.read} of ${He(a.members,"member")}.</p>
        <${U} title="Read" users=${u} name="read" />
        <${U} title="Delivered" users=${p} name="seen" />
        <${U} title="Not delivered yet" users=${a.pending??[]} name="pending" />`}
    </${oe}>`}var U=({title:e,users:s,name:t})=>s.length>0&&T`
  <section data-receipts=${t}>
    <h3>${e}</h3>
    <ul class="people">${s.map(n=>T`<li key=${n} data-user=${n}><span class="who"><${Qe} user=${n} /><span class="person"><${Ve} user=${n} /></span></span></li>`)}</ul>
  </section>`;import{Avatar as et,fullTime as ie,html as I,Name as tt,Problem as st,Sheet as ue,shortTime as nt,titleOf as at,useRef as ot,useState as q}from"../app.js";function ce({state:e,actions:s,group:t="",onClose:n}){let[l,a]=q(""),[c,m]=q(t),[r,$]=q(!1),[d,u]=q(null),[p,i]=q(""),[o,h]=q(!1),x=ot(0);async function C(b,B){let j=++x.current;h(!0),i("");try{let N=await s.search({q:l.trim(),group:c,sort:r?"best":"newest",cursor:B});j===x.current&&u({hits:[...b,...N.hits],next:N.next,before:N.incomplete_before})}catch(N){j===x.current&&i(N.message)}j===x.current&&h(!1)}function P(){x.current++,u(null),h(!1),i("")}function L(b){b.preventDefault(),P(),l.trim()&&C([],"")}let W=b=>at(e.groups.get(b)??{id:b,name:""},e.people),v=b=>{n(),s.goTo(b.message.group,b.message.id)};return I`
    <${ue} title="Search messages" side onClose=${n}>
      <form class="stack" role="search" onSubmit=${L}>
        <div class="row-form">
          <label class="field"><span class="unseen">Search messages</span>
            <input type="search" name="q" autofocus maxlength="250" autocomplete="off" enterkeyhint="search" placeholder="Words, “a phrase”, -without" value=${l}
              onInput=${b=>a(b.target.value)} /></label>
          <button class="button primary" disabled=${!l.trim()}>Search</button>
        </div>
        <div class="row-form">
          ${t&&I`
            <select aria-label="Where to search" value=${c} onChange=${b=>{m(b.target.value),P()}}>
              <option value=${t}>This group</option><option value="">All groups</option></select>`}
          <select aria-label="Order" value=${r?"best":"newest"} onChange=${b=>{$(b.target.value==="best"),P()}}>
            <option value="newest">Newest first</option><option value="best">Best match first</option></select>
        </div>
      </form>
      <${st} text=${p} />
      <p class="quiet" role="status">${o?"Searching\u2026":d?.hits.length===0?"No messages found.":""}</p>
      ${d?.before&&I`<p class="quiet">Messages sent after ${ie(d.before)} may be missing.</p>`}
      <ul class="items hits" aria-label="Messages found">
        ${(d?.hits??[]).map(b=>I`
          <li key=${`${b.message.group} ${b.message.id}`}>
            <button type="button" class="item hit" data-hit="${b.message.group}/${b.message.id}" onClick=${()=>v(b)}>
              <${et} user=${b.message.from} />
              <span class="item-text">
                <span class="item-head"><strong><${tt} user=${b.message.from} /></strong>
                  <time datetime=${b.message.sent_at} title=${ie(b.message.sent_at)}>${nt(b.message.sent_at)}</time></span>
                ${!c&&I`<small>${W(b.message.group)}</small>`}
                <span class="item-body">${lt(b.snippet)}</span>
              </span>
            </button>
          </li>`)}
      </ul>
      ${d?.next&&I`<button type="button" class="button" disabled=${o} onClick=${()=>C(d.hits,d.next??"")}>Show more</button>`}
    </${ue}>`}function lt({text:e,marks:s}){let t=[],n=0;for(let[l,a]of s)t.push(e.slice(n,l),I`<mark>${e.slice(l,a)}</mark>`),n=a;return[...t,e.slice(n)]}import{html as vt,say as yt,Sheet as fe}from"../app.js";import{fullTime as rt,html as y,Problem as me,say as g,shortTime as M,useEffect as it,useState as O}from"../app.js";function pe({state:e,actions:s}){let[t,n]=O([]),[l,a]=O([]),[c,m]=O(""),r=s.hasAccount(),$=p=>(m(""),p.catch(i=>m(i.message))),d=()=>$(Promise.all([r&&s.logins().then(p=>n(p.logins)),s.sessions().then(p=>a(p.sessions))]));return it(()=>{d()},[]),y`
    <div class="stack devices-part">
      <${me} text=${c} />
      ${r&&y`<${ut} logins=${t} onEnd=${p=>$(s.endLogin(p).then(d))} />`}
      <${ct} sessions=${l} />
      ${r&&y`<${dt} user=${e.me} change=${s.changePassword} onDone=${d} />`}
    </div>`}var ut=({logins:e,onEnd:s})=>y`
  <section>
    <h3>${g("Where you\u2019re signed in","\u5DF2\u767B\u5F55\u7684\u8BBE\u5907")}</h3>
    <ul class="devices" data-list="logins">
      ${e.map(t=>y`
        <li key=${t.id} data-login=${t.id}>
          <${$e} agent=${t.agent} address=${t.address} at=${t.last_used_at}
            when=${t.current?g("this browser","\u5F53\u524D\u6D4F\u89C8\u5668"):g(`last used ${M(t.last_used_at)}`,`\u4E0A\u6B21\u4F7F\u7528\uFF1A${M(t.last_used_at)}`)} />
          ${!t.current&&y`<button type="button" class="button" onClick=${()=>s(t.id)}>${g("Sign out","\u9000\u51FA\u767B\u5F55")}</button>`}
        </li>`)}
    </ul>
    ${e.some(t=>!t.current)&&y`
      <p class="buttons"><button type="button" class="button" name="end-others" onClick=${()=>s("")}>${g("Sign out everywhere else","\u9000\u51FA\u5176\u4ED6\u6240\u6709\u8BBE\u5907")}</button></p>`}
  </section>`,ct=({sessions:e})=>y`
  <section>
    <h3>${g("Connected now","\u5F53\u524D\u8FDE\u63A5")}</h3>
    ${e.length===0&&y`<p class="quiet">${g("No live connection.","\u6CA1\u6709\u5B9E\u65F6\u8FDE\u63A5\u3002")}</p>`}
    <ul class="devices" data-list="sessions">
      ${e.map(s=>y`<li key=${s.id}><${$e} agent=${s.agent} address=${s.address} at=${s.since}
        when=${g(`since ${M(s.since)}`,`\u81EA ${M(s.since)}`)} /></li>`)}
    </ul>
  </section>`,$e=({agent:e,address:s,at:t,when:n})=>y`
  <span class="device"><strong title=${e}>${$t(e)}</strong><small title=${rt(t)}>${s} · ${n}</small></span>`,mt=[["Edg","Edge"],["OPR/","Opera"],["Firefox/","Firefox"],["Chrome/","Chrome"],["Safari/","Safari"]],pt=[["Android","Android"],["iPhone","iPhone"],["iPad","iPad"],["Windows","Windows"],["Mac OS","macOS"],["CrOS","ChromeOS"],["Linux","Linux"]];function $t(e){let s=l=>l.find(([a])=>e.includes(a))?.[1],t=s(mt),n=s(pt);return t?n?g(`${t} on ${n}`,`${n} \u4E0A\u7684 ${t}`):t:e.split(/[\s/]/)[0]||g("Unknown device","\u672A\u77E5\u8BBE\u5907")}function dt({user:e,change:s,onDone:t}){let[n,l]=O(""),[a,c]=O(""),[m,r]=O(""),[$,d]=O("");async function u(p){p.preventDefault(),r(""),d("");try{await s(n,a),l(""),c(""),d(g("Password changed. Your other devices are signed out.","\u5BC6\u7801\u5DF2\u66F4\u6539\uFF0C\u60A8\u7684\u5176\u4ED6\u8BBE\u5907\u5DF2\u9000\u51FA\u767B\u5F55\u3002")),t()}catch(i){r(i.code==="forbidden"?g("That isn\u2019t your present password.","\u5F53\u524D\u5BC6\u7801\u4E0D\u6B63\u786E\u3002"):i.message)}}return y`
    <form class="stack" name="password" onSubmit=${u}>
      <h3>${g("Change password","\u66F4\u6539\u5BC6\u7801")}</h3>
      <input hidden autocomplete="username" readonly value=${e} />
      <label class="field"><span>${g("Present password","\u5F53\u524D\u5BC6\u7801")}</span>
        <input name="old" type="password" required autocomplete="current-password" value=${n} onInput=${p=>l(p.target.value)} /></label>
      <label class="field"><span>${g("New password","\u65B0\u5BC6\u7801")}</span>
        <input name="new" type="password" required minlength="10" autocomplete="new-password" value=${a} onInput=${p=>c(p.target.value)} />
        <small>${g("At least 10 characters. Your other devices will be signed out.","\u81F3\u5C11 10 \u4E2A\u5B57\u7B26\u3002\u60A8\u7684\u5176\u4ED6\u8BBE\u5907\u5C06\u9000\u51FA\u767B\u5F55\u3002")}</small></label>
      <${me} text=${m} />
      <p class="quiet" role="status">${$}</p>
      <button class="button">${g("Change password","\u66F4\u6539\u5BC6\u7801")}</button>
    </form>`}import{Avatar as bt,html as de,Problem as ft,say as S,useEffect as ht,useRef as gt,useState as D}from"../app.js";function be({state:e,actions:s}){let[t,n]=D(null),[l,a]=D(""),[c,m]=D(""),[r,$]=D(""),[d,u]=D(""),[p,i]=D(!1),o=gt(null),h=async(v,b)=>{$(""),u(""),i(!0);try{x(await v),u(b)}catch(B){$(B.message)}i(!1)};function x(v){n(v),a(v.name??""),m(v.status?.text??"")}ht(()=>{h(s.me(),"")},[]);let C={};t&&l.trim()!==(t.name??"")&&(C.name=l.trim()||null),t&&c.trim()!==(t.status?.text??"")&&(C.status=c.trim()?{...t.status,text:c.trim()}:null);let P=S("Saved.","\u5DF2\u4FDD\u5B58\u3002"),L=v=>{v.preventDefault(),h(s.changeMe(C),P)};function W(v){let[b]=v.target.files;v.target.value="",b&&h(s.putAvatar(b),P)}return de`
    <form class="stack profile" name="profile" onSubmit=${L}>
      <div class="profile-face">
        <${bt} user=${e.me} />
        <div>
          <input ref=${o} type="file" name="picture" accept="image/png,image/jpeg,image/gif,image/webp" hidden onChange=${W} />
          <p class="buttons">
            <button type="button" class="button" disabled=${p} onClick=${()=>o.current?.click()}>${t?.picture?S("Replace","\u66F4\u6362\u5934\u50CF"):S("Upload picture","\u4E0A\u4F20\u5934\u50CF")}</button>
            ${t?.picture&&de`<button type="button" class="button" name="remove-picture" disabled=${p}
              onClick=${()=>h(s.removeAvatar(),P)}>${S("Remove","\u79FB\u9664")}</button>`}
          </p>
          <small class="quiet">${e.me}</small>
        </div>
      </div>
      <label class="field"><span>${S("Name","\u540D\u5B57")}</span>
        <input name="own-name" maxlength="64" autocomplete="name" dir="auto" placeholder=${e.me} value=${l} disabled=${!t}
          onInput=${v=>a(v.target.value)} /></label>
      <label class="field"><span>${S("Status","\u72B6\u6001")}</span>
        <input name="status" maxlength="100" autocomplete="off" dir="auto" placeholder=${S("In a meeting","\u5F00\u4F1A\u4E2D")} value=${c} disabled=${!t}
          onInput=${v=>m(v.target.value)} /></label>
      <${ft} text=${r} />
      <p class="quiet" role="status">${d}</p>
      <button class="button primary" disabled=${p||Object.keys(C).length===0}>${S("Save","\u4FDD\u5B58")}</button>
    </form>`}var he=({state:e,actions:s,onClose:t})=>vt`
  <${fe} title=${yt("You","\u6211")} side onClose=${t}>
    <${be} state=${e} actions=${s} />
    <${pe} state=${e} actions=${s} />
  </${fe}>`;var Jt={browse:G,inbox:J,members:te,new:ae,receipts:re,search:ce,you:he};export{Jt as sheets};
//# sourceMappingURL=sheets.js.map
